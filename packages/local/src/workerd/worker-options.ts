import { CliError } from "@sluice/project/errors";
import { type GeneratedWorker, generatedConfig, type Plan } from "@sluice/project/generate/plan";
import { FRONT_ENTRYPOINT } from "@sluice/project/names";
import { loadWrangler } from "@sluice/project/wrangler/load-wrangler";
import { capturing } from "@sluice/project/wrangler/wrangler-config";
import type { V4WorkerOptions } from "miniflare";
import { type Bundle, bundleBroker } from "./bundle.ts";

/** Workers as Miniflare takes them, the primary one first, and the source maps of their code. */
interface ServedWorkers extends Pick<Bundle, "maps"> {
  readonly workers: readonly V4WorkerOptions[];
}

/** Makes the code of a Worker, as Wrangler does. */
type BundleWorker = (worker: GeneratedWorker) => Promise<Bundle>;

/** Where a Worker listens for requests, on this machine alone. */
export const LOCAL_SOCKET = { host: "127.0.0.1", port: 0 };
const TLS_OPTIONS = { trustBrowserCas: true };

/** The code of a Worker of static assets alone, which is asked for what is none of them. */
const NO_CODE = `export default { fetch: () => new Response(null, { status: 404 }) };\n`;

/**
 * Bundles the Workers of a plan and works out how Miniflare is to run them.
 *
 * @param brokerVars variables of the broker.
 * @param bundle bundles a Worker of the user's.
 * @throws CliError for Workers that cannot be run.
 */
export async function servedWorkers(
  plan: Plan,
  brokerVars: Readonly<Record<string, unknown>>,
  bundle: BundleWorker,
): Promise<ServedWorkers> {
  const all = [...plan.workers, plan.broker];
  const here = new Set(all.map(({ name }) => name));
  const settled = await Promise.allSettled(
    all.map((worker) => optionsOf(worker, worker === plan.broker, here, bundle)),
  );
  // Not before all have ended: whoever hears of a failure may delete what is still being bundled.
  const served = settled.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
  const workers = served.map(({ options }) => options);
  const maps = new Map(served.flatMap((worker) => [...worker.maps]));
  const broker = workers[plan.workers.length] as V4WorkerOptions;
  const primary = workers[0] as V4WorkerOptions;
  const { assets } = generatedConfig(all[0] ?? plan.broker);
  const isWorkerFirst = assets?.run_worker_first === true;
  primary.unsafeDirectSockets = [
    { ...LOCAL_SOCKET, entrypoint: isWorkerFirst ? FRONT_ENTRYPOINT : "default" },
  ];
  completeBroker(broker, brokerVars);
  return { workers: [...workers, ...served.flatMap(({ others }) => others)], maps };
}

/** The broker of a plan alone. Its consumers may run in other processes, which Miniflare's dev registry knows. */
export async function brokerWorker(
  { broker }: Pick<Plan, "broker">,
  vars: Readonly<Record<string, unknown>>,
): Promise<V4WorkerOptions> {
  const { options } = await optionsOf(broker, true, null, refuseToBundle);
  completeBroker(options, vars);
  return options;
}

function refuseToBundle(): never {
  throw new Error("the broker is no Worker of the user's");
}

function completeBroker(broker: V4WorkerOptions, vars: Readonly<Record<string, unknown>>): void {
  broker.unsafeDirectSockets = [LOCAL_SOCKET];
  broker.bindings = { ...vars } as NonNullable<V4WorkerOptions["bindings"]>;
  broker.serviceBindings = { ...broker.serviceBindings, ...NETWORKS };
}

/**
 * Networks over which the broker calls HTTP endpoints: the public one, and one for hosts that may be private, those of
 * `SLUICE_PUSH_HOSTS` or any in development. workerd looks at every address that a name resolves to.
 */
export const NETWORKS: V4WorkerOptions["serviceBindings"] = {
  SLUICE_PUBLIC_HOSTS: { network: { allow: ["public"], tlsOptions: TLS_OPTIONS } },
  SLUICE_LISTED_HOSTS: { network: { allow: ["public", "private"], tlsOptions: TLS_OPTIONS } },
};

async function optionsOf(
  worker: GeneratedWorker,
  isBroker: boolean,
  here: ReadonlySet<string> | null,
  bundle: BundleWorker,
) {
  const { name, configFile } = worker;
  const { unstable_getMiniflareWorkerOptions } = loadWrangler();
  // It prints which file of secrets it reads, by a name that is not the user's.
  const { result } = capturing("log", () =>
    unstable_getMiniflareWorkerOptions(configFile, "", { overrides: { enableContainers: false } }),
  );
  const { workerOptions, externalWorkers } = result;
  const { modulesRules: _, ...options } = workerOptions;
  if (here !== null) refuseAbsentWorkers(name, options, here);
  const { tails = [] } = options as Pick<V4WorkerOptions, "tails">;
  const { maps, ...code } = await codeOf(worker, isBroker, bundle);
  const ours = { name, tails: tails.filter((tail) => here?.has(String(targetOf(tail, "name")))) };
  return { options: { ...options, ...ours, ...code } as V4WorkerOptions, others: externalWorkers, maps };
}

async function codeOf(worker: GeneratedWorker, isBroker: boolean, bundle: BundleWorker): Promise<Bundle> {
  if (isBroker) return bundleBroker(worker);
  if (generatedConfig(worker).main !== undefined) return bundle(worker);
  const { directory: modulesRoot } = worker;
  const path = `${modulesRoot}/no-code.js`;
  return { modules: [{ type: "ESModule", path, contents: NO_CODE }], modulesRoot, maps: new Map() };
}

/** @throws CliError for a binding that leads to a Worker that is not run: nobody would answer there. */
function refuseAbsentWorkers(
  worker: string,
  { serviceBindings, durableObjects }: Pick<V4WorkerOptions, "serviceBindings" | "durableObjects">,
  here: ReadonlySet<string>,
): void {
  const services = Object.entries(serviceBindings ?? {}).map(([name, service]) => [
    name,
    targetOf(service, "name"),
  ]);
  const objects = Object.entries(durableObjects ?? {}).map(([name, object]) => [
    name,
    targetOf(object, "scriptName"),
  ]);
  for (const [name, target] of [...services, ...objects]) {
    if (typeof target !== "string" || here.has(target)) continue;
    throw new CliError(
      `Worker "${worker}": its binding ${name} leads to Worker "${target}", which is not among those named. ` +
        "Name its folder too.",
    );
  }
}

function targetOf(binding: unknown, property: string): unknown {
  return typeof binding === "object" && binding !== null ? Reflect.get(binding, property) : undefined;
}

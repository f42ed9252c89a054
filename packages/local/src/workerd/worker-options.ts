import { CliError } from "@sluice/project/errors";
import { type GeneratedWorker, generatedConfig, type Plan } from "@sluice/project/generate/plan";
import { FRONT_ENTRYPOINT } from "@sluice/project/names";
import { loadWrangler } from "@sluice/project/wrangler/load-wrangler";
import { capturing } from "@sluice/project/wrangler/wrangler-config";
import type { V4WorkerOptions } from "miniflare";
import { type Bundle, bundleBroker } from "./bundle.ts";

/** Miniflare's options for Workers, the primary one first, and the source maps of their code. */
interface ServedWorkers extends Pick<Bundle, "maps"> {
  readonly workers: readonly V4WorkerOptions[];
}

/** Bundles the code of a Worker. */
type BundleWorker = (worker: GeneratedWorker) => Promise<Bundle>;

/** Socket of a Worker for requests: a free port of this machine alone. */
export const LOCAL_SOCKET = { host: "127.0.0.1", port: 0 };
const TLS_OPTIONS = { trustBrowserCas: true };

/** Code of a Worker that has static assets only: it answers requests for which there is no asset. */
const NO_CODE = `export default { fetch: () => new Response(null, { status: 404 }) };\n`;

/**
 * Bundles the Workers of a plan, and makes the options by which Miniflare runs them.
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
  // A failure is thrown only after all have ended: the caller may delete files that are being bundled.
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

/** Makes the options of a plan's broker alone. Its consumers may run in other processes of Miniflare's dev registry. */
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
 * `SLUICE_PUSH_HOSTS` or any in development. workerd checks every address that a name resolves to.
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
  // Captured: it prints the file of secrets that it reads by a name that the user does not know.
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

/** @throws CliError for a binding to a Worker that is not run. */
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

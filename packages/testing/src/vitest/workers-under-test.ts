import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BINDINGS_FILE, bindingsSource } from "@sluice/project/generate/worker-entry";
import { CONSUMER_ENTRYPOINT } from "@sluice/project/names";
import type { UserWorker } from "@sluice/project/read/worker";
import { queueCompatibility } from "@sluice/project/wrangler/compatibility";
import { relativePath } from "@sluice/project/wrangler/relocate";
import { exportsOf } from "@sluice/project/wrangler/wrangler-config";
import type { V4WorkerOptions } from "miniflare";
import type { QueueRuntimeOptions } from "../api.ts";
import { temporaryFolder } from "../runtime/data-folder.ts";
import { type Prepared, prepare } from "../runtime/prepare.ts";
import { workerModules } from "../runtime/worker-modules.ts";
import { QUIET_VARIABLE } from "../wire.ts";
import type { PoolOptions } from "./options.ts";
import type { TestedProject } from "./project.ts";

/** Compatibility flag that puts a Worker's named entrypoints into `ctx.exports`, which Cloudflare's plugin exports. */
const CTX_EXPORTS = {
  enable: "enable_ctx_exports",
  disable: "disable_ctx_exports",
  defaultFrom: "2025-11-17",
};

/** Answers for the HTTP endpoints of queues, since no request leaves the machine. */
const ENDPOINTS_WORKER: V4WorkerOptions & { name: string } = {
  name: "sluice-testing-endpoints",
  compatibilityDate: "2026-01-01",
  modules: [
    {
      type: "ESModule",
      path: "endpoints.js",
      contents:
        'const text = "HTTP endpoints are tested with createQueueRuntime()";\n' +
        "export default { fetch: () => new Response(text, { status: 501 }) };",
    },
  ],
};

/** The Workers of a project. Cloudflare's plugin for Vitest runs the first one. */
export interface WorkersUnderTest {
  /** Absolute paths of further files that the configurations consist of, and of the other Workers' sources. */
  readonly dependencies: readonly string[];
  /**
   * Makes options with a broker and the other Workers.
   *
   * @param runner name under which the plugin runs the first Worker.
   */
  optionsFor(given: PoolOptions, runner: string): Promise<PoolOptions>;
}

/**
 * Reads configurations and prepares everything beside the Worker under test.
 *
 * @param project `pluginFolder`: the Wrangler of Cloudflare's plugin reads the configurations, since the plugin has
 *   loaded it, and runs the Workers by its Miniflare; else the project's Wrangler does.
 * @throws Error for configurations that cannot be used, with the reason.
 */
export async function prepareWorkers(
  options: Pick<QueueRuntimeOptions, "workers" | "root">,
  startMs: number,
  { pluginFolder, maps }: Pick<TestedProject, "pluginFolder" | "maps">,
): Promise<WorkersUnderTest> {
  const folder = temporaryFolder();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const prepared = await prepare(options, {
    startMs,
    folder,
    first: withNamedEntrypoints,
    firstMaps: maps,
    wranglerFolders: pluginFolder === null ? [] : [pluginFolder],
  }).catch((error: unknown) => {
    process.off("exit", remove);
    remove();
    throw error;
  });
  for (const warning of prepared.warnings) console.warn(warning);
  const [underTest] = prepared.plan.workers;
  if (underTest === undefined) throw new Error("a configuration has a Worker");
  sendEachByItself(prepared, underTest.directory);
  const { name, configFile } = underTest;
  return {
    dependencies: [...prepared.project.dependencies, ...prepared.sources],
    optionsFor: async (given, runner) => ({
      ...given,
      // The configuration was read for its environment already.
      wrangler: { configPath: configFile, environment: "" },
      additionalExports: {
        ...(await namedExports(prepared)),
        ...given.additionalExports,
        [CONSUMER_ENTRYPOINT]: "WorkerEntrypoint",
      },
      miniflare: {
        ...given.miniflare,
        workers: [...(given.miniflare?.workers ?? []), ...besides(prepared, name, runner)] as never,
      },
    }),
  };
}

/** Turns `ctx.exports` on: the broker calls `queue()` by an entrypoint, which the plugin exports only then. */
function withNamedEntrypoints(worker: UserWorker): UserWorker {
  const { compatibility_date: date, compatibility_flags: flags } = worker.wrangler;
  const kept = flags.filter((flag) => flag !== CTX_EXPORTS.disable);
  const isDefault = date === undefined || date >= CTX_EXPORTS.defaultFrom;
  const isOn = isDefault || kept.includes(CTX_EXPORTS.enable);
  const compatibility_flags = isOn ? kept : [...kept, CTX_EXPORTS.enable];
  return { ...worker, wrangler: { ...worker.wrangler, compatibility_flags } };
}

/**
 * Lists the named exports of the user's module, which are behind an `export *` in the generated entry. As for the
 * plugin, classes that a configuration does not name as Durable Objects or Workflows are entrypoints.
 */
async function namedExports({ project }: Prepared): Promise<NonNullable<PoolOptions["additionalExports"]>> {
  const main = project.workers[0]?.main;
  const names = main === undefined || main.kind === "none" ? null : await exportsOf(main.file);
  return Object.fromEntries(
    (names ?? []).flatMap((name) => (name === "default" ? [] : [[name, "WorkerEntrypoint"]])),
  );
}

/** Turns shared calls to the broker off: the plugin disables the flag that they need. */
function sendEachByItself({ project }: Prepared, directory: string): void {
  const [worker] = project.workers;
  if (worker === undefined) return;
  const behaviour = { ...queueCompatibility(worker.wrangler), sharesCalls: false };
  const runtime = relativePath(directory, workerModules().worker);
  const source = bindingsSource(worker.name, worker.queues.producers, behaviour, runtime);
  writeFileSync(join(directory, BINDINGS_FILE), source);
}

/**
 * Makes the broker and the other Workers, with their bindings to the Worker under test. Each call returns new ones,
 * because the caller changes them.
 */
function besides({ project, workers }: Prepared, underTest: string, runner: string): V4WorkerOptions[] {
  const renamed = (binding: unknown, key: string): unknown => {
    if (binding === underTest) return runner;
    if (typeof binding !== "object" || binding === null || Reflect.get(binding, key) !== underTest)
      return binding;
    return { ...binding, [key]: runner };
  };
  const eachRenamed = (bindings: object | undefined, key: string) =>
    Object.fromEntries(
      Object.entries(bindings ?? {}).map(([name, binding]) => [name, renamed(binding, key)]),
    );
  const others = workers.slice(1).map(({ unsafeDirectSockets: _, ...worker }) => {
    const isBroker = worker.name === project.broker.name;
    const { name: endpoints } = ENDPOINTS_WORKER;
    const services = {
      ...eachRenamed(worker.serviceBindings, "name"),
      ...(isBroker ? { SLUICE_PUBLIC_HOSTS: endpoints, SLUICE_LISTED_HOSTS: endpoints } : {}),
    };
    const durableObjects = eachRenamed(worker.durableObjects, "scriptName");
    const bindings = { ...worker.bindings, ...(isBroker ? { [QUIET_VARIABLE]: true } : {}) };
    return { ...worker, bindings, serviceBindings: services, durableObjects } as V4WorkerOptions;
  });
  return [...others, { ...ENDPOINTS_WORKER }];
}

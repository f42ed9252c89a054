import { resolve } from "node:path";
import { writeGenerated } from "@sluice/local/generation/generation";
import { HostService } from "@sluice/local/http/host-service";
import { ownSources } from "@sluice/local/runtime-modules";
import { stackNamer } from "@sluice/local/stacks/named-stack";
import { withoutOwnFrames } from "@sluice/local/stacks/own-frames";
import {
  type ModuleMaps,
  sourceFinder,
  sourcesOf,
  stackFrameMapper,
} from "@sluice/local/stacks/stack-frames";
import { bundleInside } from "@sluice/local/workerd/bundle-inside";
import { servedWorkers } from "@sluice/local/workerd/worker-options";
import type { Plan } from "@sluice/project/generate/plan";
import { brokerVariables, ownVariablesOf } from "@sluice/project/generate/variables";
import { STACKS_VARIABLE } from "@sluice/project/names";
import { refuseMissingMain } from "@sluice/project/read/missing-main";
import { type Project, readProject } from "@sluice/project/read/project";
import type { UserWorker } from "@sluice/project/read/worker";
import { takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { wranglerDefaults } from "@sluice/project/wrangler/wrangler-config";
import { endpointVariables, type QueueTopology } from "@sluice/protocol";
import type { V4WorkerOptions } from "miniflare";
import type { QueueRuntimeOptions } from "../api.ts";
import { withAbsolutePlaces } from "./errors.ts";
import { workerModules } from "./worker-modules.ts";

/**
 * Oldest Wrangler that runs here, the first whose workerd deletes all Durable Objects at once. `package.json` has the
 * same.
 */
export const WRANGLER_VERSION_MIN = "4.106.0";

/** The user's Workers and the broker, as options for Miniflare. */
export interface Prepared {
  readonly project: Project;
  readonly plan: Plan;
  /** The user's Workers, the broker, and the Workers that these need. */
  readonly workers: readonly V4WorkerOptions[];
  /** Absolute paths of the sources that were bundled. */
  readonly sources: readonly string[];
  /** Warnings about the configurations. */
  readonly warnings: readonly string[];
  /** Maps the stack traces in a text to the user's sources, and leaves Sluice's own frames out of them. */
  readonly rewrite: (text: string) => string;
  /** Names the places of stack traces for the broker. It listens until the process ends, unless it is closed. */
  readonly stacks: HostService;
}

interface PrepareOptions {
  /** Start of the virtual time. */
  readonly startMs: number;
  /** Absolute path of the folder for generated files. */
  readonly folder: string;
  /** Changes the first Worker, which is not bundled here then: another host does that. Default: no change. */
  readonly first?: (worker: UserWorker) => UserWorker;
  /** Source maps of that Worker's modules. Default: none. */
  readonly firstMaps?: ModuleMaps;
  /** Folders in which Wrangler is searched before the project's own. */
  readonly wranglerFolders?: readonly string[];
}

/**
 * Reads the user's configurations and bundles the Workers, like `sluice serve`. Generated files go to a folder of their
 * own, because several test processes may share the project's.
 *
 * @throws Error for configurations that cannot be used, with the reason.
 */
export async function prepare(
  options: Pick<QueueRuntimeOptions, "workers" | "root" | "vars">,
  { startMs, folder, first, firstMaps, wranglerFolders = [] }: PrepareOptions,
): Promise<Prepared> {
  const { root = process.cwd(), vars: given = {} } = options;
  const { targets, env } = targetsOf(options.workers);
  const projectFolders = [root, ...targets.map((target) => resolve(root, target))];
  takeWranglerOf([...wranglerFolders, ...projectFolders], {
    who: "@sluice/testing",
    oldest: WRANGLER_VERSION_MIN,
  });
  const read = await readProject({ targets, env, workingDirectory: root });
  const changed = read.workers
    .map((worker, i) => (i === 0 ? (first?.(worker) ?? worker) : worker))
    .map(withAsyncContext);
  const topology = topologyOfTest(read.topology);
  const project = { ...read, workers: changed, topology };
  refuseMissingMain(project.workers);
  const places = {
    root: folder,
    outputDirectory: folder,
    workingDirectory: root,
    runtime: workerModules(),
    page: new Uint8Array(),
    defaults: await wranglerDefaults(),
    environment: process.env,
  };
  const plan = writeGenerated(project, { env, places, purpose: "serve" });
  const own = await ownVariablesOf(plan.broker);
  const ofEndpoints = endpointVariables(topology);
  const vars = {
    // A variable of an endpoint is its own name by default: without it the queue would deliver nothing.
    ...Object.fromEntries(ofEndpoints.map((name) => [name, name])),
    ...brokerVariables(own, process.env, ofEndpoints),
    ...Object.fromEntries(
      ofEndpoints.flatMap((name) => (name in given ? [[name, textOf(given[name])]] : [])),
    ),
    SLUICE_ENV: "development",
    SLUICE_API_TOKENS: "",
    SLUICE_AWS_ACCESS_KEYS: "",
    SLUICE_CLOCK_START: String(startMs),
  };
  const { workers, maps } = await servedWorkers(plan, vars, (worker) =>
    first !== undefined && worker === plan.workers[0] ? bundledElsewhere(worker) : bundleInside(worker),
  );
  const ownFolders = [ownSources(), folder];
  const mapped = stackFrameMapper(maps);
  const rewrite = (text: string) => withoutOwnFrames(withAbsolutePlaces(mapped(text), root), ownFolders);
  const stacks = new HostService(
    stackNamer(sourceFinder({ get: (url) => maps.get(url) ?? firstMaps?.get(url) }), root),
  );
  await stacks.listening();
  const withStacks = workers.map((worker) =>
    worker.name === plan.broker.name
      ? { ...worker, bindings: { ...worker.bindings, [STACKS_VARIABLE]: stacks.url } }
      : worker,
  );
  const sources = [...maps.values()].flatMap(sourcesOf);
  return { project, plan, workers: withStacks, sources, warnings: project.warnings, rewrite, stacks };
}

/**
 * Removes alerts and shards. Alerts would call a webhook, and their reports would count as messages. Shards are objects
 * with names of their own, which events and faults would have to distinguish.
 */
function topologyOfTest({ alerts: _, queues, ...rest }: QueueTopology): QueueTopology {
  const withoutShards = Object.entries(queues).map(([name, { shards: __, ...queue }]) => [name, queue]);
  return { ...rest, queues: Object.fromEntries(withoutShards) };
}

/** Enables `AsyncLocalStorage` where no flag does: the test kit finds the invocation that makes a call by it. */
function withAsyncContext(worker: UserWorker): UserWorker {
  const { compatibility_flags: flags } = worker.wrangler;
  const has = flags.some((flag) => /^nodejs_(als|compat(_v2)?)$/.test(flag));
  const compatibility_flags = has ? flags : [...flags, "nodejs_als"];
  return { ...worker, wrangler: { ...worker.wrangler, compatibility_flags } };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function bundledElsewhere({ directory: modulesRoot }: Plan["broker"]) {
  return { modules: [], modulesRoot, maps: new Map() };
}

function targetsOf(workers: QueueRuntimeOptions["workers"]) {
  if (workers.length === 0) throw new TypeError("workers: name at least one configuration file.");
  const targets = workers.map((worker) => (typeof worker === "string" ? worker : worker.config));
  const [env = "", ...others] = new Set(
    workers.map((worker) => (typeof worker === "string" ? "" : (worker.env ?? ""))),
  );
  if (others.length === 0) return { targets, env };
  throw new TypeError(
    "workers: all Workers of a runtime run in one environment. Name the same `env` for each.",
  );
}

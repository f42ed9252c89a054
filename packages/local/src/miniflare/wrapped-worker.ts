import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { WorkerQueueConfig } from "@sluice/config";
import { CliError } from "@sluice/project/errors";
import { bindingsSource, workerEntrySource } from "@sluice/project/generate/worker-entry";
import { BROKER_CLASS, BROKER_NAME, QUEUES_BINDING } from "@sluice/project/names";
import {
  FLAG_DISALLOW_IMPORTABLE_ENV,
  flagsWithRpc,
  queueCompatibility,
} from "@sluice/project/wrangler/compatibility";
import { relativePath } from "@sluice/project/wrangler/relocate";
import type { MiniflareModule, MiniflareWorker } from "./options.ts";

/** Names of generated files. By default Miniflare takes only `.mjs` for an ES module. */
const FILES = { entry: "sluice-entry.mjs", bindings: "sluice-bindings.mjs", runtime: "sluice-runtime.mjs" };
/** File name of a script without a path. */
const SCRIPT_FILE = "sluice-user.mjs";
/** Miniflare's default for a Worker without a date. */
const COMPATIBILITY_DATE_DEFAULT = "2000-01-01";

/**
 * Returns a Worker that uses the broker's queues: a generated entry wraps its main module.
 *
 * @param queues its queues, as read from its options.
 * @param runtime code of our runtime for Workers.
 * @throws CliError for a Worker that is not made of ES modules.
 */
export function wrapped(
  worker: MiniflareWorker,
  queues: WorkerQueueConfig,
  runtime: string,
): MiniflareWorker {
  const { workerName: name, producers, consumers } = queues;
  const { queueProducers: _, queueConsumers: __, ...rest } = worker;
  if (producers.length === 0 && consumers.length === 0) return rest;
  const { compatibilityDate: date = COMPATIBILITY_DATE_DEFAULT, compatibilityFlags: flags = [] } = worker;
  const compatibility = { compatibility_date: date, compatibility_flags: flags };
  const behaviour = queueCompatibility(compatibility);
  const hasObjects = Object.keys(worker.durableObjects ?? {}).length > 0;
  const sourcesOf = (userMain: string) => ({
    [FILES.entry]: workerEntrySource({
      userMain,
      main: { kind: "default", file: userMain },
      frontDoor: null,
      hasBindings: true,
      consumes: consumers.length > 0,
      waitForWaitUntil: behaviour.waitForWaitUntil,
      hasAsyncLocalStorage: behaviour.hasAsyncLocalStorage,
      runtime: `./${FILES.runtime}`,
      bindingsFile: FILES.bindings,
    }),
    [FILES.bindings]: bindingsSource(
      ...[name, producers, { ...behaviour, sharesCalls: behaviour.resolvesAcrossRequests && !hasObjects }],
      `./${FILES.runtime}`,
    ),
    [FILES.runtime]: runtime,
  });
  const objects = { [QUEUES_BINDING]: { className: BROKER_CLASS, scriptName: BROKER_NAME, useSQLite: true } };
  return {
    ...rest,
    ...codeOf(worker, name, sourcesOf),
    name,
    compatibilityFlags: flagsWithRpc(compatibility).filter((flag) => flag !== FLAG_DISALLOW_IMPORTABLE_ENV),
    durableObjects: { ...worker.durableObjects, ...(producers.length === 0 ? {} : objects) },
  };
}

/** Returns the options for the Worker's code with the entry before it. */
function codeOf(
  worker: MiniflareWorker,
  name: string,
  sourcesOf: (userMain: string) => Record<string, string>,
): MiniflareWorker {
  const { modules, script, scriptPath } = worker;
  if (Array.isArray(modules)) return { modules: withEntry(modules, name, sourcesOf) };
  const file = scriptPath === undefined ? undefined : resolve(worker.rootPath ?? ".", scriptPath);
  const contents = script ?? (file === undefined ? undefined : readFileSync(file, "utf8"));
  if (modules !== true || contents === undefined) throw notModules(name);
  const user: MiniflareModule = { type: "ESModule", path: file ?? SCRIPT_FILE, contents };
  return { script: undefined, scriptPath: undefined, modules: withEntry([user], name, sourcesOf) };
}

function withEntry(
  modules: readonly MiniflareModule[],
  name: string,
  sourcesOf: (userMain: string) => Record<string, string>,
): MiniflareModule[] {
  const [main] = modules;
  if (main?.type !== "ESModule") throw notModules(name);
  const folder = dirname(main.path);
  const ours = Object.entries(sourcesOf(relativePath(folder, main.path))).map(
    ([file, contents]): MiniflareModule => ({ type: "ESModule", path: join(folder, file), contents }),
  );
  return [...ours, ...modules];
}

function notModules(name: string): CliError {
  return new CliError(
    `Worker "${name}": sluiceWorkers takes ES modules: "modules" with "script", "scriptPath" or a list.`,
  );
}

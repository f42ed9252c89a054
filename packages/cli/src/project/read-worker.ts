import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type ConfigDiagnostic, formatDiagnostic, readWorkerConfig } from "@sluice/config";
import type { Unstable_Config } from "wrangler";
import { CliError } from "../errors.ts";
import { FLAG_DISALLOW_IMPORTABLE_ENV } from "../generate/compatibility.ts";
import { readMainModule } from "./main-module.ts";
import { produces, type UserWorker } from "./worker.ts";
import { readWranglerConfig } from "./wrangler-config.ts";

/** A Worker and what there is to warn of, ready to print. */
export interface WorkerReading {
  readonly worker: UserWorker;
  readonly warnings: readonly string[];
}

/**
 * Reads the configuration of one of the user's Workers: its queues by our own rules, everything by Wrangler's.
 *
 * @param file absolute path of the configuration.
 * @param env the environment, "" for the top level.
 * @throws ConfigError or CliError for a configuration that cannot be used.
 */
export async function readWorker(file: string, env: string): Promise<WorkerReading> {
  const queues = readWorkerConfig(file, { env });
  const hasTableOfOurs = queues.sns !== undefined || Object.keys(queues.queueSettings).length > 0;
  const { config, warnings } = await readWranglerConfig(file, { env, quiet: hasTableOfOurs });
  if (config.pages_build_output_dir !== undefined) {
    throw new CliError(`${file}: this is a Pages project, and Sluice runs Workers only.`);
  }
  const { directory, workerName: name } = queues;
  const main = await readMainModule(mainFile(config), name);
  const worker: UserWorker = { name, file: queues.file, directory, main, queues, wrangler: config };
  return {
    worker,
    warnings: [
      ...(warnings === "" ? [] : [warnings.trimEnd()]),
      ...notSaidYet(queues.warnings, warnings).map(formatDiagnostic),
      ...ownWarnings(worker),
    ],
  };
}

/** Absolute path of the user's main module, by the deprecated `site.entry-point` too. */
function mainFile(config: Unstable_Config): string | undefined {
  if (config.main !== undefined) return config.main;
  const entryPoint = config.site?.["entry-point"];
  if (entryPoint === undefined) return undefined;
  return /\.[a-z]+$/.test(entryPoint) ? resolve(entryPoint) : join(resolve(entryPoint), "index.js");
}

/** Both readers warn of what Wrangler warns of; once is enough. */
function notSaidYet(diagnostics: readonly ConfigDiagnostic[], printed: string): ConfigDiagnostic[] {
  const said = stripVTControlCharacters(printed);
  return diagnostics.filter(({ text }) => !said.includes(text.split("\n", 1)[0] ?? text));
}

function ownWarnings(worker: UserWorker): string[] {
  const { file, name, wrangler } = worker;
  if (!produces(worker) || !wrangler.compatibility_flags.includes(FLAG_DISALLOW_IMPORTABLE_ENV)) return [];
  return [
    `${file}: warning: Sluice runs Worker "${name}" without its flag "${FLAG_DISALLOW_IMPORTABLE_ENV}", because it ` +
      `replaces queue bindings through the env of "cloudflare:workers".`,
  ];
}

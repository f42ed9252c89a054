import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import {
  CLOUDFLARE_CONFIG,
  type ConfigDiagnostic,
  formatDiagnostic,
  isCloudflareConfig,
} from "@sluice/config";
import type { Unstable_Config } from "wrangler";
import { CliError } from "../errors.ts";
import { FLAG_DISALLOW_IMPORTABLE_ENV } from "../wrangler/compatibility.ts";
import type { BuiltConfig } from "./build-output.ts";
import type { ConfigReader } from "./config-reader.ts";
import { readMainModule } from "./main-module.ts";
import { produces, type UserWorker } from "./worker.ts";

/** A Worker's configuration, written by a person or by a build tool. All paths are absolute. */
export type WorkerSource =
  | { readonly kind: "written"; readonly file: string }
  | ({ readonly kind: "built" } & BuiltConfig & Pick<UserWorker, "userDirectory" | "wranglerDirectory">);

/** A Worker with its warnings, ready to print. */
interface WorkerReading {
  readonly worker: UserWorker;
  readonly warnings: readonly string[];
}

/**
 * Reads the configuration of one of the user's Workers: its queues by our own rules, everything by Wrangler's.
 *
 * @param chosenEnv environment, "" for the top level.
 * @throws ConfigError or CliError for a configuration that cannot be used.
 */
export async function readWorker(
  source: WorkerSource,
  chosenEnv: string,
  reader: ConfigReader,
): Promise<WorkerReading> {
  const { file } = source;
  // The output of a build tool has only the environment that it was built for.
  const env = source.kind === "written" ? chosenEnv : "";
  const queues = await reader.queues(file, env);
  const { config, warnings, beside = [] } = await reader.wrangler(file, { env, quiet: false });
  if (config.pages_build_output_dir !== undefined) {
    throw new CliError(`${file}: this is a Pages project, and Sluice runs Workers only.`);
  }
  const { directory, workerName: name } = queues;
  if (source.kind === "written") refuseUnbuilt(file, config);
  else refuseOtherEnvironment(source, chosenEnv);
  const main = await readMainModule(mainFile(config), name);
  const { userDirectory = directory, wranglerDirectory = directory } = source.kind === "built" ? source : {};
  const folders = { directory, userDirectory, wranglerDirectory };
  const worker: UserWorker = { name, file: queues.file, ...folders, main, queues, wrangler: config };
  return {
    worker,
    warnings: [
      ...(warnings === "" ? [] : [warnings.trimEnd()]),
      // A warning of both readers is printed by ours, which names the line.
      ...beside
        .filter((text) => !queues.warnings.some((own) => own.text === text))
        .map((text) => formatDiagnostic({ severity: "warning", file, text })),
      ...notPrintedYet(queues.warnings, warnings).map(formatDiagnostic),
      ...(source.kind === "written" ? notRead(file) : []),
      ...ownWarnings(worker),
    ],
  };
}

/** Refuses a Worker whose assets are the output of a build tool: Wrangler would only name the missing directory. */
function refuseUnbuilt(file: string, { assets }: Unstable_Config): void {
  if (assets === undefined || assets.directory !== undefined) return;
  throw new CliError(
    `${file}: "assets" names no directory, so a build tool such as Vite makes what is run. Run its build first ` +
      '("npx vite build"): Sluice runs its output.',
  );
}

/** Refuses an environment other than the build's, in Wrangler's words. */
function refuseOtherEnvironment({ file, environment }: BuiltConfig, env: string): void {
  if (env === "" || environment === null || environment === env) return;
  throw new CliError(
    `${file}: You have specified the environment "${env}". This does not match the target environment ` +
      `"${environment}" that was used when building the application.`,
  );
}

/** Finds the absolute path of the user's main module, also by the deprecated `site.entry-point`. */
function mainFile(config: Unstable_Config): string | undefined {
  if (config.main !== undefined) return config.main;
  const entryPoint = config.site?.["entry-point"];
  if (entryPoint === undefined) return undefined;
  return /\.[a-z]+$/.test(entryPoint) ? resolve(entryPoint) : join(resolve(entryPoint), "index.js");
}

/** Removes our diagnostics that Wrangler has printed already. */
export function notPrintedYet(diagnostics: readonly ConfigDiagnostic[], printed: string): ConfigDiagnostic[] {
  // Wrangler breaks its lines at the width of the terminal.
  const flat = (text: string) => text.replaceAll(/\s+/g, " ");
  const all = flat(stripVTControlCharacters(printed));
  return diagnostics.filter(({ text }) => !all.includes(flat(text.split("\n", 1)[0] ?? text)));
}

/** Warns of a `cloudflare.config.ts` beside a Wrangler configuration of a Worker. */
function notRead(file: string): string[] {
  const other = join(dirname(file), CLOUDFLARE_CONFIG);
  if (isCloudflareConfig(file) || !existsSync(other)) return [];
  return [
    `${other}: warning: it is not read, because ${basename(file)} beside it is a Worker's configuration too. ` +
      `Take out of that all but its [sluice] table, or name the file to use it.`,
  ];
}

function ownWarnings(worker: UserWorker): string[] {
  const { file, name, wrangler } = worker;
  if (!produces(worker) || !wrangler.compatibility_flags.includes(FLAG_DISALLOW_IMPORTABLE_ENV)) return [];
  return [
    `${file}: warning: Sluice runs Worker "${name}" without its flag "${FLAG_DISALLOW_IMPORTABLE_ENV}", because it ` +
      `replaces queue bindings through the env of "cloudflare:workers".`,
  ];
}

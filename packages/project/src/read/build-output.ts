import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { CLOUDFLARE_CONFIG } from "@sluice/config";
import { CliError } from "../errors.ts";
import { readToolsRedirect } from "../files/redirect.ts";
import { OUTPUT_FOLDER } from "../files/write-plan.ts";

/** A configuration that a build tool has made. All paths are absolute. */
export interface BuiltConfig {
  readonly file: string;
  /** The user's configuration from which it was made; `null` where the tool does not say. */
  readonly madeFrom: string | null;
  /** The environment for which it was made; `null` where the tool does not say. */
  readonly environment: string | null;
  /** Whether the tool builds for that environment by default. */
  readonly isByDefault: boolean;
}

/**
 * Finds the output of Vite's plugin for Workers, Nitro or another build tool in a folder. Such a tool redirects
 * Wrangler by `.wrangler/deploy/config.json`, so that `wrangler dev` and `wrangler deploy` run the output. Sluice does
 * so too.
 *
 * @returns the configuration that Wrangler is redirected to, then those of the Workers that were built with it. Empty
 *   without a build tool's redirect; a redirect of `sluice build` is not one, but the one that it replaced is.
 * @throws CliError for a redirect to a file that does not exist or cannot be read, as Wrangler refuses it.
 */
export function findBuildOutput(folder: string): readonly BuiltConfig[] {
  const toolsOwn = readToolsRedirect(folder);
  // A file in an output folder of Sluice is never a build tool's, even if the redirect says so.
  if (toolsOwn === null || toolsOwn.configFile.split(/[\\/]/).includes(OUTPUT_FOLDER)) return [];
  return [toolsOwn.configFile, ...toolsOwn.auxiliary].map((file) => readBuiltConfig(folder, file));
}

function readBuiltConfig(folder: string, file: string): BuiltConfig {
  try {
    const { userConfigPath, targetEnvironment } = JSON.parse(readFileSync(file, "utf8")) as {
      readonly userConfigPath?: string;
      readonly targetEnvironment?: string;
    };
    const madeFrom = userConfigPath ? resolve(file, "..", userConfigPath) : null;
    return { file, madeFrom, environment: targetEnvironment || null, isByDefault: false };
  } catch (error) {
    throw new CliError(
      `${folder}: .wrangler/deploy/config.json leads to "${relative(folder, file)}", which cannot be read ` +
        `(${error instanceof Error ? error.message : error}). A build tool wrote it: run its build ` +
        "again, or delete it to use this folder's own configuration.",
    );
  }
}

/** Folder of Build Output, which `cf build` and `vite build` write, with a folder for each version of its format. */
const OUTPUT = ".cloudflare/output";
const VERSION = "v1";
const WORKER_CONFIG = "worker.config.json";
/** Name of the producer whose output has a mode only where one was chosen. */
const WRANGLER = "wrangler";
/** Mode of a `vite build` that names none. */
const VITE_MODE = "production";
const OUTPUT_FILE =
  /^(.+)[\\/]\.cloudflare[\\/]output[\\/]v1[\\/]workers[\\/][^\\/]+[\\/]worker\.config\.json$/;
const OUTPUT_FOLDERS = /^(.+)[\\/]\.cloudflare[\\/]output(?:[\\/]v\d+)?$/;

/** Returns the project's folder for the configuration of a Worker in Build Output; `null` for other files. */
export function projectOfOutput(file: string): string | null {
  return OUTPUT_FILE.exec(file)?.[1] ?? null;
}

/** Returns the project's folder for a folder of Build Output; `null` for other folders. */
export function projectOfOutputFolder(folder: string): string | null {
  return OUTPUT_FOLDERS.exec(folder)?.[1] ?? null;
}

/**
 * Finds the Workers in the Build Output of a project. The one that `cf deploy` deploys comes first. Empty where there
 * is no Build Output.
 *
 * @throws CliError for a version of the format that is not known.
 */
export function findCloudflareOutput(project: string): {
  readonly configs: readonly BuiltConfig[];
  /** Name of the tool that has written it. */
  readonly producer: string | undefined;
} {
  const folder = join(project, OUTPUT);
  const versions = existsSync(folder) ? readdirSync(folder).filter((name) => /^v\d+$/.test(name)) : [];
  const [other] = versions;
  if (other === undefined) return { configs: [], producer: undefined };
  if (!versions.includes(VERSION)) {
    throw new CliError(
      `${join(folder, other)} is Build Output of version ${other.slice(1)}, and Sluice reads version ` +
        `${VERSION.slice(1)}. Build it by a tool that writes that one, or delete it.`,
    );
  }
  const { producer, buildContext } = readRoot(join(folder, VERSION, "config.json"));
  const workers = join(folder, VERSION, "workers");
  const names = readdirSync(existsSync(workers) ? workers : folder)
    .filter((name) => existsSync(join(workers, name, WORKER_CONFIG)))
    .sort((a, b) => Number(b === "default") - Number(a === "default"));
  const configs = names.map((name) => ({
    file: join(workers, name, WORKER_CONFIG),
    madeFrom: join(project, CLOUDFLARE_CONFIG),
    environment: buildContext?.mode ?? null,
    isByDefault: producer?.name !== WRANGLER && buildContext?.mode === VITE_MODE,
  }));
  return { configs, producer: producer?.name };
}

interface OutputRoot {
  readonly producer?: { readonly name?: string };
  readonly buildContext?: { readonly mode?: string };
}

function readRoot(file: string): OutputRoot {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as OutputRoot;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new CliError(`${dirname(file)}: Build Output that cannot be read (${reason}). Build it again.`);
  }
}

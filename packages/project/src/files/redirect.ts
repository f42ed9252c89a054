import { type Dirent, existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CONFIG_FILE_NAMES } from "@sluice/config";
import { relativePath } from "../wrangler/relocate.ts";
import { writeIfChanged } from "./write-plan.ts";

const REDIRECT_FOLDER = ".wrangler/deploy";

/** Configurations that Wrangler is redirected to. All paths are absolute. */
interface RedirectTarget {
  readonly configFile: string;
  /** Configurations of the Workers that a build tool made together with the first. */
  readonly auxiliary: readonly string[];
}

interface Redirect extends RedirectTarget {
  /** Build tool's redirect that ours has replaced; `null` for none. Only redirects of ours have this member. */
  readonly insteadOf?: RedirectTarget | null;
}

/** Contents of the file, with paths relative to it. A contract: Wrangler reads two keys, our other releases the third. */
interface RedirectFile {
  readonly configPath: string;
  readonly auxiliaryWorkers?: readonly { readonly configPath: string }[];
  readonly insteadOf?: Pick<RedirectFile, "configPath" | "auxiliaryWorkers"> | null;
}

/**
 * Makes a plain `wrangler dev` or `wrangler deploy` in a folder use a generated configuration, as build tools do, by
 * `.wrangler/deploy/config.json`. The redirect of a build tool that it replaces is stored in it, because our
 * next run reads the tool's output again.
 */
export function writeRedirect(directory: string, configFile: string): void {
  const toolsOwn = readToolsRedirect(directory);
  const redirect: RedirectFile = {
    ...toFile(directory, { configFile, auxiliary: [] }),
    insteadOf: toolsOwn === null ? null : toFile(directory, toolsOwn),
  };
  writeIfChanged(redirectFile(directory), `${JSON.stringify(redirect, null, 2)}\n`);
}

/** Reads a folder's redirect; `null` where there is none that can be read. */
export function readRedirect(directory: string): Redirect | null {
  try {
    const file = JSON.parse(readFileSync(redirectFile(directory), "utf8")) as RedirectFile;
    const { insteadOf } = file;
    const target = fromFile(directory, file);
    if (insteadOf === undefined) return target;
    return { ...target, insteadOf: insteadOf === null ? null : fromFile(directory, insteadOf) };
  } catch {
    return null;
  }
}

/** Reads a build tool's redirect in a folder, also after ours has replaced it; `null` where there is none. */
export function readToolsRedirect(directory: string): RedirectTarget | null {
  const redirect = readRedirect(directory);
  return redirect?.insteadOf === undefined ? redirect : redirect.insteadOf;
}

function toFile(directory: string, { configFile, auxiliary }: RedirectTarget): RedirectFile {
  const fromRedirect = (file: string) => relativePath(join(directory, REDIRECT_FOLDER), file);
  return {
    configPath: fromRedirect(configFile),
    auxiliaryWorkers: auxiliary.map((file) => ({ configPath: fromRedirect(file) })),
  };
}

function fromFile(directory: string, { configPath, auxiliaryWorkers = [] }: RedirectFile): RedirectTarget {
  const absolute = (path: string) => resolve(directory, REDIRECT_FOLDER, path);
  return {
    configFile: absolute(configPath),
    auxiliary: auxiliaryWorkers.map((worker) => absolute(worker.configPath)),
  };
}

/**
 * Keeps Wrangler working in the folders below a redirected one. Wrangler looks for a redirect in all parent folders,
 * and does not start where a configuration is nearer than the redirect. So each folder with a configuration gets a
 * redirect to it.
 *
 * @param except folders of build output, in which Wrangler is not run.
 * @returns the folders that got a redirect.
 */
export function shieldFoldersBelow(directory: string, except: readonly string[] = []): string[] {
  const shielded: string[] = [];
  for (const folder of foldersBelow(directory, except)) {
    const own = CONFIG_FILE_NAMES.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (own === undefined || existsSync(redirectFile(folder))) continue;
    writeRedirect(folder, own);
    shielded.push(folder);
  }
  return shielded;
}

function redirectFile(directory: string): string {
  return join(directory, REDIRECT_FOLDER, "config.json");
}

/**
 * Lists the folders below a folder. Leaves out what is excepted, hidden folders and installed packages, where nobody
 * runs Wrangler, and folders that cannot be read, such as the volume of a database.
 */
function* foldersBelow(directory: string, except: readonly string[]): Generator<string> {
  for (const entry of entriesOf(directory)) {
    if (!entry.isDirectory() || entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const folder = join(directory, entry.name);
    if (except.includes(folder)) continue;
    yield folder;
    yield* foldersBelow(folder, except);
  }
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

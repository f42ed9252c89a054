import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CONFIG_FILE_NAMES } from "@sluice/config";
import { relativePath } from "../wrangler/relocate.ts";
import { writeIfChanged } from "./write-plan.ts";

const REDIRECT_FOLDER = ".wrangler/deploy";

/** Where Wrangler is led to. All paths are absolute. */
export interface RedirectTarget {
  readonly configFile: string;
  /** Configurations of the Workers that a build tool made along with that one. */
  readonly auxiliary: readonly string[];
}

export interface Redirect extends RedirectTarget {
  /** Only a redirect of our own has it: the build tool's that it took the place of, `null` for none. */
  readonly insteadOf?: RedirectTarget | null;
}

/** As it is written. Paths are relative to the folder it lies in; Wrangler knows the first two keys. */
interface RedirectFile {
  readonly configPath: string;
  readonly auxiliaryWorkers?: readonly { readonly configPath: string }[];
  readonly insteadOf?: Pick<RedirectFile, "configPath" | "auxiliaryWorkers"> | null;
}

/**
 * Makes a plain `wrangler dev` or `wrangler deploy` in a folder use a generated configuration: Wrangler's own way to
 * hand over to a build tool (`.wrangler/deploy/config.json`). It remembers the redirect of another tool whose place it
 * takes: what that one led to is what has been generated from, and what will be again.
 */
export function writeRedirect(directory: string, configFile: string): void {
  const toolsOwn = readToolsRedirect(directory);
  const redirect: RedirectFile = {
    ...toFile(directory, { configFile, auxiliary: [] }),
    insteadOf: toolsOwn === null ? null : toFile(directory, toolsOwn),
  };
  writeIfChanged(redirectFile(directory), `${JSON.stringify(redirect, null, 2)}\n`);
}

/** Where Wrangler is led to in a folder, `null` if nowhere. What cannot be read is for Wrangler to complain about. */
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

/** Where a build tool leads Wrangler to from a folder, also if a redirect of our own has taken the place of its own. */
export function readToolsRedirect(directory: string): RedirectTarget | null {
  const redirect = readRedirect(directory);
  return redirect?.insteadOf === undefined ? redirect : redirect.insteadOf;
}

function toFile(directory: string, { configFile, auxiliary }: RedirectTarget): RedirectFile {
  const seen = (file: string) => relativePath(join(directory, REDIRECT_FOLDER), file);
  return {
    configPath: seen(configFile),
    auxiliaryWorkers: auxiliary.map((file) => ({ configPath: seen(file) })),
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
 * and refuses to start in a folder that has a configuration of its own and finds a redirect further up. A redirect to
 * their own configuration changes nothing else.
 *
 * @param except folders in which nobody runs Wrangler: a build tool's output.
 * @returns the folders that got one.
 */
export function shieldFoldersBelow(directory: string, except: readonly string[] = []): string[] {
  const shielded: string[] = [];
  for (const folder of foldersBelow(directory)) {
    const own = CONFIG_FILE_NAMES.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (own === undefined || except.includes(folder) || existsSync(redirectFile(folder))) continue;
    writeRedirect(folder, own);
    shielded.push(folder);
  }
  return shielded;
}

function redirectFile(directory: string): string {
  return join(directory, REDIRECT_FOLDER, "config.json");
}

/** Without hidden folders and installed packages, where nobody runs Wrangler. */
function* foldersBelow(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const folder = join(directory, entry.name);
    yield folder;
    yield* foldersBelow(folder);
  }
}

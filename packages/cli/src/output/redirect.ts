import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CONFIG_FILE_NAMES } from "@sluice/config";
import { relativePath } from "../generate/paths.ts";
import { writeIfChanged } from "./write-plan.ts";

const REDIRECT_FOLDER = ".wrangler/deploy";

/**
 * Makes a plain `wrangler dev` or `wrangler deploy` in a folder use a generated configuration: Wrangler's own way to
 * hand over to a build tool (`.wrangler/deploy/config.json`).
 *
 * @returns the configuration to which the folder was redirected before if that was another one, `null` if not.
 */
export function writeRedirect(directory: string, configFile: string): string | null {
  const before = readRedirect(directory);
  const configPath = relativePath(join(directory, REDIRECT_FOLDER), configFile);
  const redirect = { configPath, auxiliaryWorkers: [] };
  writeIfChanged(redirectFile(directory), `${JSON.stringify(redirect, null, 2)}\n`);
  return before === configFile ? null : before;
}

function readRedirect(directory: string): string | null {
  try {
    const { configPath } = JSON.parse(readFileSync(redirectFile(directory), "utf8")) as {
      configPath: string;
    };
    return resolve(directory, REDIRECT_FOLDER, configPath);
  } catch {
    return null;
  }
}

/**
 * Keeps Wrangler working in the folders below a redirected one. Wrangler looks for a redirect in all parent folders, and
 * refuses to start in a folder that has a configuration of its own and finds a redirect further up. A redirect to their
 * own configuration changes nothing else.
 *
 * @returns the folders that got one.
 */
export function shieldFoldersBelow(directory: string): string[] {
  const shielded: string[] = [];
  for (const folder of foldersBelow(directory)) {
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

/** Without hidden folders and installed packages, where nobody runs Wrangler. */
function* foldersBelow(directory: string): Generator<string> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const folder = join(directory, entry.name);
    yield folder;
    yield* foldersBelow(folder);
  }
}

import { statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ConfigError, errorAt } from "./diagnostics.ts";
import { readDocument } from "./document.ts";
import type { Table } from "./table.ts";

/** Names of Wrangler's configuration files, in the order in which Wrangler prefers them. */
export const CONFIG_FILE_NAMES: readonly string[] = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];
/** Name of the configuration that is a TypeScript module, which Wrangler alone can load. */
export const CLOUDFLARE_CONFIG = "cloudflare.config.ts";

/** Whether a file is a `cloudflare.config.ts`. */
export function isCloudflareConfig(file: string): boolean {
  return basename(file) === CLOUDFLARE_CONFIG;
}

/**
 * Finds the configuration file of a Worker and returns its absolute path.
 *
 * Unlike Wrangler, this looks into no parent folder: a Worker is named by its folder here, and a Worker without a
 * configuration must not turn into the one that happens to lie above it. It follows no redirect in
 * `.wrangler/deploy/config.json` either, since the file there may be generated out of the one that is looked for.
 *
 * @param folderOrFile a file, which is taken as it is, or a folder: of that the first of `CONFIG_FILE_NAMES` that
 *   exists, unless that is no Worker's and beside a `cloudflare.config.ts`; else the latter.
 * @throws ConfigError when the path does not exist or the folder holds none of the four.
 */
export function findConfigFile(folderOrFile: string): string {
  const path = resolve(folderOrFile);
  switch (kindOf(path)) {
    case "file":
      return path;
    case "folder": {
      const found = wranglerConfigIn(path);
      const module = join(path, CLOUDFLARE_CONFIG);
      if (kindOf(module) === "file" && (found === null || !holdsWorker(found))) return module;
      return (
        found ?? refuse(path, `No ${[...CONFIG_FILE_NAMES, CLOUDFLARE_CONFIG].join(", ")} in this folder.`)
      );
    }
    case "absent":
      return refuse(path, "No such file or folder.");
  }
}

/** Finds the Wrangler configuration of a folder; `null` where it has none. */
export function wranglerConfigIn(folder: string): string | null {
  return CONFIG_FILE_NAMES.map((name) => join(folder, name)).find((file) => kindOf(file) === "file") ?? null;
}

/** Whether a Wrangler configuration is a Worker's, and not for the settings of Sluice alone. */
export function isWorkers({ name, main }: Table): boolean {
  return name !== undefined || main !== undefined;
}

function holdsWorker(file: string): boolean {
  try {
    return isWorkers(readDocument(file).root);
  } catch {
    // It is broken, which its reader explains.
    return true;
  }
}

function kindOf(path: string): "file" | "folder" | "absent" {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "absent";
  return stats.isDirectory() ? "folder" : "file";
}

function refuse(file: string, text: string): never {
  throw new ConfigError([errorAt(file, undefined, text)]);
}

import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError, errorAt } from "./diagnostics.ts";

/** Names of configuration files, in the order in which Wrangler prefers them. */
export const CONFIG_FILE_NAMES: readonly string[] = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/**
 * Finds the configuration file of a Worker and returns its absolute path.
 *
 * Unlike Wrangler, this looks into no parent folder: a Worker is named by its folder here, and a Worker without a
 * configuration must not turn into the one that happens to lie above it. It follows no redirect in
 * `.wrangler/deploy/config.json` either, since the file there may be generated out of the one that is looked for.
 *
 * @param folderOrFile a file, which is taken as it is, or a folder: of that the first of `CONFIG_FILE_NAMES` that
 *   exists.
 * @throws ConfigError when the path does not exist or the folder holds none of the three.
 */
export function findConfigFile(folderOrFile: string): string {
  const path = resolve(folderOrFile);
  switch (kindOf(path)) {
    case "file":
      return path;
    case "folder": {
      const found = CONFIG_FILE_NAMES.map((name) => join(path, name)).find((file) => kindOf(file) === "file");
      return found ?? refuse(path, `No ${CONFIG_FILE_NAMES.join(", ")} in this folder.`);
    }
    case "absent":
      return refuse(path, "No such file or folder.");
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

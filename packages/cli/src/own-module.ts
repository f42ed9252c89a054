import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Finds a module of ours that another process or runtime loads: TypeScript when this runs from source, JavaScript in
 * the folder of the bundle when it runs from a package.
 *
 * @param source URL of the module's source.
 * @param packed path of its bundle, from the folder of the package's bundles.
 * @returns an absolute path.
 */
export function ownModule(source: URL, packed: string): string {
  const file = fileURLToPath(source);
  return existsSync(file) ? file : fileURLToPath(new URL(packed, import.meta.url));
}

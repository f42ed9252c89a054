import { fileURLToPath } from "node:url";

/** Whether this runs from source, and not from the bundles of a package. */
export const RUNS_FROM_SOURCE = import.meta.filename.endsWith(".ts");

/**
 * Finds a module of ours that another process or runtime loads: TypeScript when this runs from source, JavaScript
 * beside the bundle when it runs from a package.
 *
 * @param source URL of the module's source.
 * @param packed path of its bundle, from the folder of the package's bundles.
 * @returns an absolute path.
 */
export function ownModule(source: URL, packed: string): string {
  return fileURLToPath(RUNS_FROM_SOURCE ? source : new URL(packed, import.meta.url));
}

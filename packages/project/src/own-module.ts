import { fileURLToPath } from "node:url";

/** Whether this process runs our sources rather than a package's bundles. */
export const RUNS_FROM_SOURCE = import.meta.filename.endsWith(".ts");

/**
 * Finds a module of ours for another process or runtime: TypeScript from source, JavaScript beside the bundle from a
 * package.
 *
 * @param source URL of the module's source.
 * @param packed path of its bundle in the package's folder of bundles.
 * @returns absolute path.
 */
export function ownModule(source: URL, packed: string): string {
  return fileURLToPath(RUNS_FROM_SOURCE ? source : new URL(packed, import.meta.url));
}

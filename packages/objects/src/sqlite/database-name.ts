import nodePath, { type PlatformPath } from "node:path";

/** Longest path of a database that Windows accepts as it is, in characters: SQLite appends up to "-journal". */
const WINDOWS_NAME_LENGTH_MAX = 259 - "-journal".length;

/**
 * Returns the path of a database file for SQLite, which passes it on to the system. Windows accepts a long path only as
 * a namespaced one (`\\?\`), which Node.js itself uses for all files.
 *
 * @param file absolute path.
 * @param path path functions of the system. Default: this one's.
 */
export function databaseName(file: string, path: PlatformPath = nodePath): string {
  return file.length > WINDOWS_NAME_LENGTH_MAX ? path.toNamespacedPath(file) : file;
}

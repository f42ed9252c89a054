import nodePath, { type PlatformPath } from "node:path";

/** Longest name of a database that Windows takes as it is, in characters, with what SQLite appends to it. */
const WINDOWS_NAME_LENGTH_MAX = 259 - "-journal".length;

/**
 * Names a database file for SQLite, which passes the name on to the system. A long one is taken by Windows in its
 * namespace alone, in which Node.js names all files for it.
 *
 * @param file absolute path.
 * @param path the system's. Default: this one's.
 */
export function databaseName(file: string, path: PlatformPath = nodePath): string {
  return file.length > WINDOWS_NAME_LENGTH_MAX ? path.toNamespacedPath(file) : file;
}

import { existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { Database } from "../sqlite/database.ts";
import { syncFolder } from "./folders.ts";

/** Suffixes of the files of a database: itself, its write-ahead log, and the log's index, which processes share. */
const PARTS = ["", "-wal", "-shm"];

/** Whether an error means that a database file is damaged or is none. */
export function isDamage(error: unknown): boolean {
  return /SQLITE_(CORRUPT|NOTADB)/.test(String(error));
}

/**
 * Finds damage in a database file, and returns it in SQLite's words; `null` where there is none. Reads all of it, at
 * 0.6 GB/s.
 *
 * @throws SqliteError where it cannot be opened for another reason.
 */
export function findingIn(file: string): string | null {
  let database: Database | undefined;
  try {
    database = new Database(file);
    const [row] = database.all("PRAGMA quick_check(1)");
    const finding = String(row?.quick_check);
    return finding === "ok" ? null : (finding.split("\n").at(-1) ?? finding);
  } catch (reason) {
    // Without the path, which the caller has.
    if (isDamage(reason))
      return (reason instanceof Error ? reason.message : `${reason}`).replace(`${file}: `, "");
    throw reason;
  } finally {
    database?.close();
  }
}

/**
 * Renames a damaged database with its other files, and returns its new path. The database comes first: without its
 * log it would be another one. A call after the process was killed in between renames the rest.
 */
export function putAside(file: string): string {
  const aside = `${file}.damaged-${Date.now()}`;
  for (const part of PARTS) {
    if (!existsSync(file + part)) continue;
    renameSync(file + part, aside + part);
    // A power cut can undo renames in any order.
    syncFolder(dirname(file));
  }
  return aside;
}

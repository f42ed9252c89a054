import { existsSync, readdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { Database } from "./database.ts";
import { readAlarm } from "./own-alarm.ts";

/** Where workerd has the alarms of a namespace's objects, in their folder. */
const INDEX_FILE = "metadata.sqlite";
const CREATE =
  "CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER, actor_name TEXT) WITHOUT ROWID";
/** What belongs to a database file. */
const PARTS = ["", "-wal", "-shm"];
const OBJECT_FILE = /^([0-9a-f]{64})\.sqlite$/;

/** A file that is no database, or whose pages do not hold together. */
class DamagedIndexError extends Error {
  override readonly name = "DamagedIndexError";
}

/**
 * Opens the index of all alarms. Where there is none, or one that is damaged, it is made from what the objects' own files say:
 * else nobody would start an object that nobody calls. What was damaged is put aside.
 *
 * @throws SqliteError where it cannot be opened for another reason.
 */
export function openIndex(folder: string, error: (line: string) => void): Database {
  const file = join(folder, INDEX_FILE);
  try {
    return opened(file, folder, error);
  } catch (reason) {
    if (!(reason instanceof DamagedIndexError)) throw reason;
    const aside = putAside(file);
    error(
      `${file}: the index of alarms is damaged (${reason.message}), and is made anew from what the objects say. What there was is kept as ${basename(aside)}`,
    );
    return opened(file, folder, error);
  }
}

function opened(file: string, folder: string, error: (line: string) => void): Database {
  let database: Database | undefined;
  try {
    database = new Database(file);
    const tables = database.all("SELECT 1 FROM sqlite_schema WHERE name = '_cf_ALARM'");
    if (tables.length === 0) fill(database, folder, error);
    const [finding] = database.all("PRAGMA quick_check(1)");
    if (finding?.quick_check !== "ok") throw new DamagedIndexError(String(finding?.quick_check));
    return database;
  } catch (reason) {
    database?.close();
    if (/SQLITE_(CORRUPT|NOTADB)/.test(String(reason))) throw new DamagedIndexError(String(reason));
    throw reason;
  }
}

/** All of it, or nothing: an index that lacks an alarm must not be taken for a whole one. */
function fill(database: Database, folder: string, error: (line: string) => void): void {
  database.run("BEGIN");
  database.run(CREATE);
  for (const name of readdirSync(folder)) {
    const [, id] = OBJECT_FILE.exec(name) ?? [];
    if (id === undefined) continue;
    try {
      const atMs = alarmIn(join(folder, name));
      if (atMs !== null) {
        database.run("INSERT INTO _cf_ALARM VALUES (?, ?, NULL)", [id, BigInt(atMs) * 1_000_000n]);
      }
    } catch (reason) {
      error(`${name}: whether it has an alarm cannot be read: ${reason}`);
    }
  }
  database.run("COMMIT");
}

function alarmIn(file: string): number | null {
  const database = new Database(file);
  try {
    return readAlarm(database);
  } finally {
    database.close();
  }
}

function putAside(file: string): string {
  const aside = `${file}.damaged-${Date.now()}`;
  for (const part of PARTS) {
    if (existsSync(file + part)) renameSync(file + part, aside + part);
  }
  return aside;
}

import { basename, join } from "node:path";
import { objectFile, objectIdsIn } from "../files/object-files.ts";
import { Database } from "../sqlite/database.ts";
import { findingIn, putAside } from "../sqlite/database-files.ts";
import type { Room } from "../sqlite/room.ts";
import { readAlarm } from "./own-alarm.ts";

/** Where workerd has the alarms of a namespace's objects, in their folder. */
const INDEX_FILE = "metadata.sqlite";
const CREATE =
  "CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER, actor_name TEXT) WITHOUT ROWID";

/**
 * Opens the index of all alarms. Where there is none, or one that is damaged, it is made from what the objects' own
 * files say: else nobody would start an object that nobody calls. What was damaged is put aside.
 *
 * @throws SqliteError where it cannot be opened for another reason.
 */
export function openIndex(folder: string, error: (line: string) => void, room: Room): Database {
  const file = join(folder, INDEX_FILE);
  const finding = findingIn(file);
  if (finding !== null) {
    const aside = basename(putAside(file));
    error(
      `${file}: the index of alarms is damaged (${finding}), and is made anew from what the objects ` +
        `say. What there was is kept as ${aside}`,
    );
  }
  const database = new Database(file, room);
  try {
    const tables = database.all("SELECT 1 FROM sqlite_schema WHERE name = '_cf_ALARM'");
    if (tables.length === 0) fill(database, folder, error);
    return database;
  } catch (reason) {
    database.close();
    throw reason;
  }
}

/** All of it, or nothing: an index that lacks an alarm must not be taken for a whole one. */
function fill(database: Database, folder: string, error: (line: string) => void): void {
  database.run("BEGIN");
  database.run(CREATE);
  for (const id of objectIdsIn(folder)) {
    const file = objectFile(folder, id);
    try {
      const atMs = alarmIn(file);
      if (atMs !== null) {
        database.run("INSERT INTO _cf_ALARM VALUES (?, ?, NULL)", [id, BigInt(atMs) * 1_000_000n]);
      }
    } catch (reason) {
      error(`${basename(file)}: whether it has an alarm cannot be read: ${reason}`);
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

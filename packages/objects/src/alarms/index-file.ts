import { basename, join } from "node:path";
import { findingIn, putAside } from "../files/database-files.ts";
import { objectFile, objectIdsIn } from "../files/object-files.ts";
import { Database } from "../sqlite/database.ts";
import type { Room } from "../sqlite/room.ts";
import { NS_PER_MS, readAlarm } from "./own-alarm.ts";

/** Name of workerd's file with the alarms of a namespace's objects, in their folder. */
const INDEX_FILE = "metadata.sqlite";
const CREATE =
  "CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER, actor_name TEXT) WITHOUT ROWID";

export interface Index {
  readonly database: Database;
  /**
   * Whether the table has the column `actor_name`. workerd before autumn 2026 made none, and crashes on an index that
   * has one. So an existing index keeps its columns, and a project with such a Wrangler goes on.
   */
  readonly hasNames: boolean;
}

/**
 * Opens the index of all alarms. If it does not exist or is damaged, it is made from the objects' own files: otherwise
 * objects that nobody calls would miss their alarms. A damaged index is put aside.
 *
 * @throws SqliteError where it cannot be opened for another reason.
 */
export function openIndex(folder: string, error: (line: string) => void, room: Room): Index {
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
    const columns = database.all("SELECT name FROM pragma_table_info('_cf_ALARM')").map(({ name }) => name);
    if (columns.length === 0) fill(database, folder, error);
    return { database, hasNames: columns.length === 0 || columns.includes("actor_name") };
  } catch (reason) {
    database.close();
    throw reason;
  }
}

/** Fills the index in one transaction: an index with only some of the alarms must not be taken for a whole one. */
function fill(database: Database, folder: string, error: (line: string) => void): void {
  database.run("BEGIN");
  database.run(CREATE);
  for (const id of objectIdsIn(folder)) {
    const file = objectFile(folder, id);
    try {
      const atMs = alarmIn(file);
      if (atMs !== null) {
        database.run("INSERT INTO _cf_ALARM VALUES (?, ?, NULL)", [id, BigInt(atMs) * NS_PER_MS]);
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

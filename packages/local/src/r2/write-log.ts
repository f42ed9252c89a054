import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { databaseName } from "@sluice/objects/database-name";
import type { R2Write } from "@sluice/protocol";
import { loadSqlite } from "../node/sqlite.ts";

/** How long a write stays in a bucket's log, in ms. A write that is not read by then is lost. */
export const LOGGED_MS = 86_400_000;

/** How long to wait for a lock that another process has on the file, in ms. */
const BUSY_MS = 5_000;

/** Table of objects as Miniflare makes it, for a bucket that has not been used yet. A test compares the two. */
const OBJECTS = `CREATE TABLE IF NOT EXISTS _mf_objects (
    key TEXT PRIMARY KEY, blob_id TEXT, version TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL,
    uploaded INTEGER NOT NULL, checksums TEXT NOT NULL, http_metadata TEXT NOT NULL, custom_metadata TEXT NOT NULL
)`;

const LOG = `CREATE TABLE IF NOT EXISTS _sluice_writes (
  id INTEGER PRIMARY KEY, action TEXT NOT NULL, key TEXT NOT NULL, size INTEGER, etag TEXT
)`;

/**
 * Makes the SQL of a trigger. Ids are times in ms, but at least one more than the last id. So they grow also where a
 * bucket is deleted and made again, and where a clock is set back.
 */
const trigger = (
  name: string,
  event: string,
  values: string,
) => `CREATE TRIGGER ${name} AFTER ${event} ON _mf_objects
BEGIN
  INSERT INTO _sluice_writes VALUES (
    max(CAST(unixepoch('subsec') * 1000 AS INTEGER), (SELECT ifnull(max(id), 0) + 1 FROM _sluice_writes)), ${values}
  );
  DELETE FROM _sluice_writes WHERE id < CAST(unixepoch('subsec') * 1000 AS INTEGER) - ${LOGGED_MS};
END`;

/** Triggers by their names. An object with no `blob_id` was uploaded in parts. */
const TRIGGERS: Readonly<Record<string, string>> = {
  _sluice_put: trigger(
    "_sluice_put",
    "INSERT",
    "iif(new.blob_id IS NULL, 'CompleteMultipartUpload', 'PutObject'), new.key, new.size, new.etag",
  ),
  _sluice_delete: trigger("_sluice_delete", "DELETE", "'DeleteObject', old.key, NULL, NULL"),
};

interface LogRow {
  readonly id: number;
  readonly action: R2Write["action"];
  readonly key: string;
  readonly size: number | null;
  readonly etag: string | null;
}

/**
 * Log of the writes to a bucket of Miniflare's, in the bucket's own database. Triggers write it in the transaction of
 * the write itself, so that none is missed, whichever process makes it.
 */
export class WriteLog {
  readonly #db: DatabaseSync;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Opens the log of a bucket, and creates it if there is none. @param file the bucket's database. */
  static open(file: string): WriteLog {
    if (!existsSync(file)) mkdirSync(dirname(file), { recursive: true });
    if (!existsSync(file) || !isLogged(file)) change(file, begin);
    return new WriteLog(openToRead(file));
  }

  /** Deletes the log of a bucket, if it has one. */
  static end(file: string): void {
    if (!hasLog(file)) return;
    change(file, (db) => {
      for (const name of Object.keys(TRIGGERS)) db.exec(`DROP TRIGGER IF EXISTS ${name}`);
      db.exec("DROP TABLE IF EXISTS _sluice_writes");
    });
  }

  /** Reads at most `max` writes with ids greater than `after`, in order of their ids. */
  read(after: number, max: number): R2Write[] {
    const query = "SELECT id, action, key, size, etag FROM _sluice_writes WHERE id > ? ORDER BY id LIMIT ?";
    const rows = this.#db.prepare(query).all(after, max) as unknown as LogRow[];
    return rows.map(({ id, action, key, size, etag }) => {
      const stored = size === null || etag === null ? null : { size, eTag: etag };
      return { id, action, key, atMs: id, stored };
    });
  }

  close(): void {
    this.#db.close();
  }
}

function begin(db: DatabaseSync): void {
  db.exec(OBJECTS);
  db.exec(LOG);
  for (const [name, sql] of Object.entries(TRIGGERS)) {
    db.exec(`DROP TRIGGER IF EXISTS ${name}`);
    db.exec(sql);
  }
}

/** Opens a database read-only, so that no writer waits for it. */
function openToRead(file: string): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  return new DatabaseSync(databaseName(file), { readOnly: true, timeout: BUSY_MS });
}

/** Whether a database has the triggers of this version. */
function isLogged(file: string): boolean {
  return withTriggers(file, (triggers) =>
    Object.entries(TRIGGERS).every(([name, sql]) => triggers.get(name) === sql),
  );
}

function hasLog(file: string): boolean {
  return withTriggers(file, (triggers) => Object.keys(TRIGGERS).some((name) => triggers.has(name)));
}

function withTriggers<Result>(file: string, look: (triggers: ReadonlyMap<string, string>) => Result): Result {
  const db = openToRead(file);
  try {
    const rows = db
      .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
      .all() as unknown as { readonly name: string; readonly sql: string }[];
    return look(new Map(rows.map(({ name, sql }) => [name, sql])));
  } finally {
    db.close();
  }
}

/**
 * Changes a database in one transaction without a sync: a Worker's write fails while this holds the lock. A log that a
 * power failure takes away is made again at the next start.
 */
function change(file: string, write: (db: DatabaseSync) => void): void {
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(databaseName(file), { timeout: BUSY_MS });
  try {
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN IMMEDIATE");
    write(db);
    db.exec("COMMIT");
  } finally {
    db.close();
  }
}

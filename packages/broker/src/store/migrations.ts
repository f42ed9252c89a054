import type { HostStorage } from "../platform/host.ts";

/**
 * Steps of the schema. A contract, since stored data depends on it: a released step is never changed, only followed.
 *
 * - `meta`: single values: `schema`, `name`, `epoch` (number of the latest epoch that has written something),
 *   `clock_offset_ms` and `clock_frozen_at_ms` (`ClockSetting`), `mark` (position and usage, `Mark` of `mark.ts`),
 *   `record` (the queue's record in the directory, see `recordCopy`) and `damage` (as JSON).
 * - `segments`: a row per group of messages that were committed together. `idx` holds sizes and due times, `state` what
 *   had already happened to the messages when the row was written, `payload` their records and `seal` the checksums of
 *   these; `commits` is the number of the commit that wrote it. Payload comes last so that reading the others never
 *   touches its pages.
 * - `segment_states`: what happened to a segment's messages later. Apart, so that a lease does not rewrite a payload.
 * - `outbox`: messages that have left this queue for another one and are not known to have arrived.
 * - `notes`: other data of a queue, by key: deduplication ids, seen ids, receive attempts, move tasks, periodic tasks.
 * - `journal`: the history, in rows that are overwritten one after the other; from slot 10,000 on figures by the
 *   minute. No index, and nothing is deleted, because either is billed as a row is.
 * - `inbox`: the last outbox id taken from each queue, so that a repeated transfer is recognised.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    `CREATE TABLE segments (
      id INTEGER PRIMARY KEY, commits INTEGER NOT NULL,
      idx BLOB NOT NULL, state BLOB, seal BLOB NOT NULL, payload BLOB NOT NULL
    )`,
    "CREATE TABLE segment_states (id INTEGER PRIMARY KEY, commits INTEGER NOT NULL, state BLOB NOT NULL)",
    "CREATE TABLE outbox (id INTEGER PRIMARY KEY, target TEXT NOT NULL, seal BLOB NOT NULL, payload BLOB NOT NULL)",
    "CREATE TABLE inbox (source TEXT PRIMARY KEY, last_id INTEGER NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID",
  ],
  ["CREATE TABLE notes (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"],
  ["CREATE TABLE journal (slot INTEGER PRIMARY KEY, body BLOB NOT NULL)"],
  // From here on a segment may be gone by the mark alone, which releases before cannot know.
  [],
];

/** Error for data of a later release, which this one cannot read. */
export class SchemaVersionError extends Error {
  override readonly name = "SchemaVersionError";
}

/** Brings the tables of a queue to the latest schema. @throws SchemaVersionError for those of a later release. */
export function migrate(storage: Pick<HostStorage, "transactionSync">, run: Run): void {
  const [meta] = run("SELECT name FROM sqlite_master WHERE name = 'meta'");
  const version =
    meta === undefined
      ? 0
      : (run<{ value: number }>("SELECT value FROM meta WHERE key = 'schema'")[0]?.value ?? 0);
  if (version > MIGRATIONS.length) {
    throw new SchemaVersionError(
      `this queue was written by a later release (schema ${version}); this one knows ${MIGRATIONS.length}`,
    );
  }
  if (version === MIGRATIONS.length) return;
  storage.transactionSync(() => {
    for (const step of MIGRATIONS.slice(version)) for (const statement of step) run(statement);
    run("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", MIGRATIONS.length);
  });
}

/** Executes a statement at once. */
export type Run = <Row extends Record<string, SqlStorageValue>>(sql: string, ...bindings: unknown[]) => Row[];

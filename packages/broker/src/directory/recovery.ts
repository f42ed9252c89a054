import type { QueueRecord } from "@sluice/protocol";
import { recordFrom, SELECT_RECORD } from "../store/record-copy.ts";
import { type DirectoryRow, nameOf } from "./row.ts";
import { DirectoryRows } from "./rows.ts";
import { isBehind, restoredRow } from "./status.ts";

export { DIRECTORY_NAME } from "../rpc/directory-object.ts";

/** As much of an object's SQL as this takes: there is no object while nothing runs. */
export type Sql = Pick<SqlStorage, "exec">;

/** Records of queues in a directory's database. */
export interface Known {
  /** Whether a directory has ever been started on it. */
  readonly hasStarted: boolean;
  /** By the queues' names; of some that were deleted, too. */
  readonly rows: ReadonlyMap<string, DirectoryRow>;
}

/** Reads it while nobody runs the directory. The log names rows that are damaged. */
export function readKnown(sql: Sql): Known {
  const rows = new DirectoryRows(sql as SqlStorage);
  const byName = Array.from(rows.all(), (row) => [nameOf(row), row] as const);
  return { hasStarted: rows.deployed !== null, rows: new Map(byName) };
}

/**
 * Reads the record that a queue's object has stored of its queue: `null` if there is no queue, or it never held a
 * message. Throws for damage.
 */
export function readCopy(sql: Sql): QueueRecord | null {
  const tables = sql.exec("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").toArray();
  if (tables.length === 0) return null;
  const [row] = sql.exec<{ value: string }>(SELECT_RECORD).toArray();
  if (row === undefined) return null;
  const record = recordFrom(row.value);
  if (record === null) throw new Error("what it stored of the queue that it is does not fit its checksum");
  return record;
}

/** Whether the directory has lost the queue that this is a copy of. */
export function isLost({ rows }: Known, copy: QueueRecord): boolean {
  return isBehind(rows.get(copy.name), copy);
}

/** Stores queues that are lost as they know themselves, within a transaction. */
export function takeBack(sql: Sql, { rows: known }: Known, copies: Iterable<QueueRecord>): void {
  const rows = new DirectoryRows(sql as SqlStorage);
  for (const copy of copies) rows.save(restoredRow(known.get(copy.name), copy));
}

import type { QueueRecord } from "@sluice/protocol";
import { recordFrom, SELECT_RECORD } from "../store/record-copy.ts";
import { type DirectoryRow, nameOf } from "./row.ts";
import { isBehind, restoredRow } from "./status.ts";
import { DirectoryRows } from "./tables/rows.ts";

export { DIRECTORY_NAME } from "../rpc/directory-object.ts";

/** Part of an object's SQL that recovery uses, since no object runs meanwhile. */
export type Sql = Pick<SqlStorage, "exec">;

/** Records of queues in a directory's database. */
export interface Known {
  /** Whether a directory has ever been started on it. */
  readonly hasStarted: boolean;
  /** Rows by the names of their queues, some deleted ones too. */
  readonly rows: ReadonlyMap<string, DirectoryRow>;
}

/** Reads the rows of a directory that does not run. Damaged rows are logged. */
export function readKnown(sql: Sql): Known {
  const rows = new DirectoryRows(sql as SqlStorage);
  const byName = Array.from(rows.all(), (row) => [nameOf(row), row] as const);
  return { hasStarted: rows.deployed !== null, rows: new Map(byName) };
}

/**
 * Reads a queue's own copy of its record: `null` if there is no queue, or it never held a message. Throws for damage.
 */
export function readCopy(sql: Sql): QueueRecord | null {
  const tables = sql.exec("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").toArray();
  if (tables.length === 0) return null;
  const [row] = sql.exec<{ value: string }>(SELECT_RECORD).toArray();
  if (row === undefined) return null;
  const record = recordFrom(row.value);
  if (record === null) throw new Error("the stored record of the queue does not match its checksum");
  return record;
}

/** Whether the directory has lost the queue of a copy. */
export function isLost({ rows }: Known, copy: QueueRecord): boolean {
  return isBehind(rows.get(copy.name), copy);
}

/** Within a transaction: stores lost queues by their own copies. */
export function takeBack(sql: Sql, { rows: known }: Known, copies: Iterable<QueueRecord>): void {
  const rows = new DirectoryRows(sql as SqlStorage);
  for (const copy of copies) rows.save(restoredRow(known.get(copy.name), copy));
}

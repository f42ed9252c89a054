import type { Jurisdiction, QueueDefinition, QueueRecord } from "@sluice/protocol";

/** Queue in the directory. A contract, since it is stored as JSON: members keep their names and meaning. */
export interface QueueRow {
  readonly kind: "queue";
  readonly record: QueueRecord;
  /** Latest definition of it in the configuration; `null` for a queue that no configuration names. */
  readonly configured: QueueDefinition | null;
  /** Latest revision of which the queue's object is notified. */
  readonly told: number;
}

/** Deleted queue. A contract, since it is stored as JSON: members keep their names and meaning. */
export interface DeletedRow {
  readonly kind: "deleted";
  readonly name: string;
  readonly revision: number;
  /** Place of the queue (`QueueRecord`), whose object is to be emptied. */
  readonly place?: Jurisdiction;
  /** Set once its object is empty. The row stays for a while, so that no late call with a copy restores the queue. */
  readonly isEmptied?: true;
}

export type DirectoryRow = QueueRow | DeletedRow;

export function nameOf(row: DirectoryRow): string {
  return row.kind === "queue" ? row.record.name : row.name;
}

/** Whether the queue's object is notified of its row. */
export function isNotified(row: DirectoryRow): boolean {
  return row.kind === "queue" ? row.told >= row.record.revision : row.isEmptied === true;
}

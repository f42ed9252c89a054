import type { QueueDefinition, QueueRecord } from "@sluice/protocol";

/** A queue with what else the directory keeps of it. A contract: it is stored. */
export interface QueueRow {
  readonly kind: "queue";
  readonly record: QueueRecord;
  /** Latest definition of it in the configuration; `null` for a queue that no configuration names. */
  readonly configured: QueueDefinition | null;
  /** The latest revision that the queue's object has confirmed. */
  readonly told: number;
}

/** A queue that was deleted. A contract: it is stored. */
export interface DeletedRow {
  readonly kind: "deleted";
  readonly name: string;
  readonly revision: number;
  /**
   * Set once its object has confirmed that it is empty. The row stays for a while: what the object asked before with a
   * copy of the queue can still arrive, and must not bring it back.
   */
  readonly isEmptied?: true;
}

export type DirectoryRow = QueueRow | DeletedRow;

export function nameOf(row: DirectoryRow): string {
  return row.kind === "queue" ? row.record.name : row.name;
}

/** Whether its queue's object knows of it. */
export function isTold(row: DirectoryRow): boolean {
  return row.kind === "queue" ? row.told >= row.record.revision : row.isEmptied === true;
}

import type { QueueDefinition, QueueRecord } from "@sluice/protocol";

/** A queue with what else the directory keeps of it. A contract: it is stored. */
export interface QueueRow {
  readonly kind: "queue";
  readonly record: QueueRecord;
  /** What the configuration said of it last; `null` for a queue that no configuration names. */
  readonly configured: QueueDefinition | null;
  /** The latest revision that the queue's object has confirmed. */
  readonly told: number;
}

/** A queue that was deleted, until its object has confirmed that it is empty. A contract: it is stored. */
export interface DeletedRow {
  readonly kind: "deleted";
  readonly name: string;
  readonly revision: number;
}

export type DirectoryRow = QueueRow | DeletedRow;

export function nameOf(row: DirectoryRow): string {
  return row.kind === "queue" ? row.record.name : row.name;
}

import type { Jurisdiction, QueueDefinition, QueueRecord, ShardMap } from "@sluice/protocol";

/** Queue in the directory. A contract, since it is stored as JSON: members keep their names and meaning. */
export interface QueueRow {
  readonly kind: "queue";
  readonly record: QueueRecord;
  /** Latest definition of it in the configuration; `null` for a queue that no configuration names. */
  readonly configured: QueueDefinition | null;
  /** Latest revision of which the queue's object is notified. */
  readonly told: number;
  /**
   * Map that is shown until shard 0 has confirmed that of the record; `null` for none. Absent once it has, and in rows
   * of other shards.
   */
  readonly shownShards?: ShardMap | null;
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

export function revisionOf(row: DirectoryRow): number {
  return row.kind === "queue" ? row.record.revision : row.revision;
}

/**
 * Returns the record for all but the queue's own objects: with the latest map that shard 0 has confirmed, and whether
 * the configuration names the queue.
 */
export function shownRecord({ record, configured, shownShards }: QueueRow): QueueRecord {
  const { shards, ...rest } = record;
  const shown = shownShards === undefined ? shards : (shownShards ?? undefined);
  return {
    ...rest,
    ...(shown === undefined ? {} : { shards: shown }),
    ...(configured === null ? {} : { isConfigured: true }),
  };
}

/** Whether the queue's object is notified of its row. */
export function isNotified(row: DirectoryRow): boolean {
  return row.kind === "queue" ? row.told >= row.record.revision : row.isEmptied === true;
}

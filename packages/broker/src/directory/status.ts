import { isShard, type QueueRecord, shardOf } from "@sluice/protocol";
import type { QueueStatus } from "../rpc/queue-status.ts";
import type { Registry } from "./registry.ts";
import type { DirectoryRow, QueueRow } from "./row.ts";
import { stepShards } from "./shards.ts";

export function statusOf(registry: Registry, name: string): QueueStatus {
  const row = registry.queue(name);
  return row === undefined
    ? { kind: "absent", asOf: registry.lastRevision }
    : { kind: "known", record: row.record };
}

/**
 * Describes the loss of the directory that a queue's own copy reveals: a queue gets only records that were stored.
 *
 * @returns a text to continue "the directory ..."; `null` if no loss shows.
 */
export function lossShownBy(registry: Registry, copy: QueueRecord): string | null {
  const row = registry.row(copy.name);
  if (row?.kind === "queue") {
    if (copy.revision < row.record.emptyAsOf) return null;
    if (row.record.queueId !== copy.queueId) return "knows it as a new one, with another id";
  }
  if (!isBehind(row, copy)) return null;
  const knows = {
    none: "does not know it any more",
    queue: "knows an older change of it than the queue does",
    deleted: "knows of an earlier deletion, and not that it was created again",
  }[row?.kind ?? "none"];
  return `${knows}, and takes it back as the queue knows itself`;
}

/**
 * Whether the directory has lost the record of a copy. Everything that it stores of a name later, deletions too, has a
 * later revision.
 */
export function isBehind(row: DirectoryRow | undefined, copy: QueueRecord): boolean {
  if (row === undefined) return true;
  if (row.kind === "deleted") return row.revision < copy.revision;
  // A shard that was lost has been made again since, by the map that its queue knew.
  if (isShard(copy.name) && copy.revision >= row.record.emptyAsOf && epochOf(copy) > epochOf(row.record))
    return true;
  return row.record.queueId === copy.queueId && row.record.revision < copy.revision;
}

function epochOf({ shards }: QueueRecord): number {
  return shards?.epoch ?? 0;
}

/** Restores a queue that the directory has lost, or a change of it, from the queue's own copy. */
export function restoreQueue(registry: Registry, copy: QueueRecord): void {
  const row = registry.row(copy.name);
  if (!isBehind(row, copy)) return;
  registry.put(restoredRow(row, copy));
  stepShards(registry, shardOf(copy.name).queue);
}

/**
 * Makes the row of a queue that is restored from its copy. Its configured definition comes from the earlier row, since
 * a copy has none.
 */
export function restoredRow(row: DirectoryRow | undefined, copy: QueueRecord): QueueRow {
  const configured = row?.kind === "queue" ? row.configured : null;
  return { kind: "queue", record: copy, configured, told: copy.revision };
}

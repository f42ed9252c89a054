import type { QueueRecord } from "@sluice/protocol";
import type { QueueStatus } from "../rpc/queue-status.ts";
import type { Registry } from "./registry.ts";
import type { DirectoryRow, QueueRow } from "./row.ts";

export function statusOf(registry: Registry, name: string): QueueStatus {
  const row = registry.queue(name);
  return row === undefined
    ? { kind: "absent", asOf: registry.lastRevision }
    : { kind: "known", record: row.record };
}

/**
 * Finds data that the directory has lost, by a queue's own copy: a queue keeps only what the directory had stored and
 * told it.
 *
 * @returns what it is, to go on with "the directory ..."; `null` if nothing.
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
 * Whether the directory has lost what a queue has a copy of. What it stores of a name later has a later revision,
 * deletions too.
 */
export function isBehind(row: DirectoryRow | undefined, copy: QueueRecord): boolean {
  if (row === undefined) return true;
  if (row.kind === "deleted") return row.revision < copy.revision;
  return row.record.queueId === copy.queueId && row.record.revision < copy.revision;
}

/** Takes a queue back that the directory has lost, or a change of it, from the copy that the queue itself has kept. */
export function restoreQueue(registry: Registry, copy: QueueRecord): void {
  const row = registry.row(copy.name);
  if (isBehind(row, copy)) registry.put(restoredRow(row, copy));
}

/**
 * Makes the directory's row for a queue that is restored from its copy. Its configured definition comes from the
 * earlier row: the directory alone remembers it.
 */
export function restoredRow(row: DirectoryRow | undefined, copy: QueueRecord): QueueRow {
  const configured = row?.kind === "queue" ? row.configured : null;
  return { kind: "queue", record: copy, configured, told: copy.revision };
}

import type { QueueRecord } from "@sluice/protocol";
import type { Registry } from "./registry.ts";
import type { QueueRow } from "./row.ts";

/** What a queue is to the directory. */
export type Standing =
  | { readonly kind: "known"; readonly record: QueueRecord }
  /**
   * There is no queue of that name: nobody created it, or it was deleted. `asOf` is the latest revision of all queues then: what
   * was said under an earlier one of this name is over. Absent: said by a directory of an earlier build.
   */
  | { readonly kind: "absent"; readonly asOf?: number };

export function standingOf(registry: Registry, name: string): Standing {
  const row = registry.queue(name);
  return row === undefined
    ? { kind: "absent", asOf: registry.lastRevision }
    : { kind: "known", record: row.record };
}

/**
 * What a queue's own copy shows the directory to have lost: a queue keeps only what the directory had stored and told it.
 *
 * @returns what it is, to go on with "the directory ..."; `null` if nothing.
 */
export function lossShownBy(registry: Registry, copy: QueueRecord): string | null {
  const row = registry.row(copy.name);
  if (row === undefined) return "does not know it any more and takes it back as the queue knows itself";
  if (row.kind === "deleted" || copy.revision < row.record.emptyAsOf) return null;
  if (row.record.queueId !== copy.queueId) return "knows it as a new one, with another id";
  return row.record.revision < copy.revision ? "knows an older change of it than the queue does" : null;
}

/**
 * Takes back a queue that the directory does not know, from the copy that the queue itself has kept: the directory's data
 * were lost or damaged. A queue that was deleted stays so: its row says it until the queue has emptied itself.
 */
export function restoreQueue(registry: Registry, copy: QueueRecord): void {
  if (registry.row(copy.name) !== undefined) return;
  registry.put(restoredRow(copy));
}

/** What the directory knows of a queue by the queue's own copy: no configuration is remembered for it. */
export function restoredRow(copy: QueueRecord): QueueRow {
  return { kind: "queue", record: copy, configured: null, told: copy.revision };
}

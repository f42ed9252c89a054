import type { QueueAtRest, QueueDescription, QueueRecord } from "@sluice/protocol";

/** Parts of a queue that tell whether it has anything left to do. */
export interface DescribedQueue {
  /** `null` for an object that is no queue of the directory. */
  readonly record: QueueRecord | null;
  /** Whether messages leave for other queues, or a move is running. */
  readonly hasMore: boolean;
  readonly description: QueueDescription;
}

/**
 * Makes the snapshot of an idle queue for the directory, so that the queue need not wake for its figures; `null` for
 * a queue that changes by itself. A queue is idle while its messages wait for a client that pulls, or for the end of a
 * pause. The alarm wakes it when their retention ends.
 */
export function idleSnapshotOf({ record, hasMore, description }: DescribedQueue): QueueAtRest | null {
  if (record === null || hasMore) return null;
  const { delayed, leased, consumer } = description;
  const delivers = consumer !== null && (consumer.inFlight > 0 || consumer.next !== null);
  if (delayed > 0 || leased > 0 || delivers) return null;
  return { queueId: record.queueId, description };
}

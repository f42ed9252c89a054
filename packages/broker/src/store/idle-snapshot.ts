import type { QueueAtRest, QueueDescription, QueueRecord } from "@sluice/protocol";

/** What of a queue tells whether it has anything left to do. */
export interface DescribedQueue {
  /** `null` for what is no queue of the directory. */
  readonly record: QueueRecord | null;
  /** Messages that leave for other queues, or a move that goes on. */
  readonly hasMore: boolean;
  readonly description: QueueDescription;
}

/**
 * What the directory is told of an idle queue, so that who wants its figures need not wake it; `null` for one that
 * changes by itself. A queue is idle whose messages wait for somebody who pulls, or for the end of a pause: when their
 * retention is over the alarm wakes it.
 */
export function idleSnapshotOf({ record, hasMore, description }: DescribedQueue): QueueAtRest | null {
  if (record === null || hasMore) return null;
  const { delayed, leased, consumer } = description;
  const delivers = consumer !== null && (consumer.inFlight > 0 || consumer.next !== null);
  if (delayed > 0 || leased > 0 || delivers) return null;
  return { queueId: record.queueId, description };
}

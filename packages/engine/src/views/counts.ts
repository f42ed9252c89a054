import { oldestWaitingMs } from "../commands/expire.ts";
import type { Queue } from "../queue/queue.ts";

/** Counts of a queue by state. */
export interface QueueCounts {
  readonly ready: number;
  readonly delayed: number;
  readonly leased: number;
  /** Body bytes of ready and delayed messages. */
  readonly waitingBytes: number;
  /** Commit time of the oldest ready or delayed message in ms, `null` when none waits. */
  readonly oldestWaitingMs: number | null;
}

/** Counts the messages by state. Call `advance` first for figures as of now. */
export function counts(queue: Queue): QueueCounts {
  const oldestMs = oldestWaitingMs(queue);
  return {
    ready: queue.readyCount,
    delayed: queue.delayedCount,
    leased: queue.leasedCount,
    waitingBytes: queue.waitingBytes,
    oldestWaitingMs: Number.isFinite(oldestMs) ? oldestMs : null,
  };
}

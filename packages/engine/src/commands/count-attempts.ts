import { isolate } from "../queue/isolate.ts";
import type { Queue } from "../queue/queue.ts";
import { toWaiting } from "../queue/transitions.ts";
import type { MessagePosition } from "./purge.ts";

/**
 * Counts the deliveries that a waiting message has had in the queue that it was exported from, as if they had been
 * here. It stays where it is, `ready` or `delayed`.
 *
 * @param attempts 1 or more.
 */
export function countAttempts(
  queue: Queue,
  { segmentId, index }: MessagePosition,
  attempts: number,
  nowMs: number,
): void {
  const segment = queue.segments.get(segmentId);
  if (segment === undefined) throw new RangeError(`there is no segment ${segmentId}`);
  const dueMs = segment.dueOf(index);
  const entry = isolate(queue, segment, index);
  // A new id that no consumer holds, as if a lease had ended.
  entry.leaseId = queue.nextLeaseId++;
  entry.attempts = attempts;
  toWaiting(queue, entry, dueMs, nowMs);
}

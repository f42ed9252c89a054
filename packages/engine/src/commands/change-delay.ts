import { advanceSegment } from "../queue/advance.ts";
import type { Queue } from "../queue/queue.ts";
import { lift, toWaiting } from "../queue/transitions.ts";
import type { Segment } from "../segments/segment.ts";

/**
 * Gives messages that wait by the queue's own delay another one, counted from their send: a FIFO queue does so when its
 * delay changes (spec sqs 4.1). A message that named a delay of its own keeps it. Only where an earlier message of its
 * segment now waits for longer, it waits as long: due times of a segment stay in order.
 *
 * @returns ids of the segments whose due times have changed: their indexes have to be written again.
 */
export function changeDelay(queue: Queue, fromMs: number, toMs: number, nowMs: number): number[] {
  const changed: number[] = [];
  for (const segment of [...queue.segments.values()]) {
    if (changeDelayOf(queue, segment, fromMs, toMs, nowMs)) changed.push(segment.id);
  }
  return changed;
}

function changeDelayOf(queue: Queue, segment: Segment, fromMs: number, toMs: number, nowMs: number): boolean {
  const { runs } = segment;
  const isWaitingByRun = Array.from(
    { length: runs.length },
    (_, r) => runs.dueMs(r) > nowMs && runs.dueMs(r) === runs.acceptedMs(r) + fromMs,
  );
  if (!isWaitingByRun.includes(true)) return false;
  // An entry that was never delivered waits as untouched messages do, unless it was made due by hand.
  const undelivered = segment.entries.filter(
    ({ attempts, atMs, from }) => attempts === 0 && atMs === segment.dueOf(from),
  );
  for (const entry of undelivered) lift(queue, entry);
  let dueMs = Number.NEGATIVE_INFINITY;
  const changed = isWaitingByRun.map((isWaiting, r) => {
    dueMs = Math.max(dueMs, isWaiting ? runs.acceptedMs(r) + toMs : runs.dueMs(r));
    return dueMs;
  });
  runs.changeDueMs(changed);
  for (const entry of undelivered) toWaiting(queue, entry, segment.dueOf(entry.from), nowMs);
  advanceSegment(queue, segment, nowMs);
  return true;
}

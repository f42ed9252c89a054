import { isolate } from "../queue/isolate.ts";
import type { Queue } from "../queue/queue.ts";
import { lift, removeEntry } from "../queue/transitions.ts";
import { type Slice, sliceOf } from "../segments/segment.ts";
import { expireUntouched } from "./expire.ts";

/**
 * Deletes every message, delayed and leased ones included (spec cloudflare-queues 4). A consumer that works on a leased
 * one goes on; its settlement finds nothing.
 *
 * @returns how many there were.
 */
export function purge(queue: Queue): number {
  let purged = 0;
  for (const segment of [...queue.segments.values()]) {
    for (const entry of [...segment.entries]) {
      lift(queue, entry);
      purged += entry.count;
      removeEntry(queue, entry);
    }
    // Messages that nothing has happened to yet have no entry.
    purged += expireUntouched(queue, segment, Number.POSITIVE_INFINITY);
  }
  return purged;
}

/** Place of a message: the same from its send to its end, over restarts too. */
export interface MessagePosition {
  readonly segmentId: number;
  readonly index: number;
}

/**
 * Deletes one message, even a leased one (spec cloudflare-queues 5.2, purge by refs).
 *
 * @param noteRemoved called with the message, for a caller that keeps its bytes.
 * @returns whether it was there.
 */
export function removeMessage(
  queue: Queue,
  { segmentId, index }: MessagePosition,
  noteRemoved: (removed: Slice) => void = () => {},
): boolean {
  const segment = queue.segments.get(segmentId);
  if (segment === undefined || !segment.has(index)) return false;
  const entry = isolate(queue, segment, index);
  noteRemoved(sliceOf(entry));
  removeEntry(queue, entry);
  return true;
}

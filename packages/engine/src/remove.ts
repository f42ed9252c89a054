import { isolate } from "./isolate.ts";
import type { Queue } from "./queue.ts";
import { removeEntry } from "./transitions.ts";

/** Where a message is: the same from its send to its end, over restarts too. */
export interface MessagePosition {
  readonly segmentId: number;
  readonly index: number;
}

/**
 * `purged` from any state: one message is gone, whoever holds it (spec cloudflare-queues 5.2, purge by refs).
 *
 * @returns whether it was there.
 */
export function removeMessage(queue: Queue, { segmentId, index }: MessagePosition): boolean {
  const segment = queue.segments.get(segmentId);
  if (segment === undefined || !segment.has(index)) return false;
  removeEntry(queue, isolate(queue, segment, index));
  return true;
}

import { advance } from "../queue/advance.ts";
import { isolate } from "../queue/isolate.ts";
import type { Queue } from "../queue/queue.ts";
import { toWaiting } from "../queue/transitions.ts";
import type { MessagePosition } from "./purge.ts";

/**
 * `ready` from `delayed` or `leased`, by hand: one message may be delivered now. A consumer that holds it goes on, and
 * its settlement finds nothing; on a standard queue a client may still delete the message that it received. The
 * delivery that is ended counts, but does not make the message dead.
 *
 * @returns `wasDue` for a message that was ready: it stays in its place.
 */
export function makeDue(
  queue: Queue,
  { segmentId, index }: MessagePosition,
  nowMs: number,
): "due" | "wasDue" | "gone" {
  advance(queue, nowMs);
  const segment = queue.segments.get(segmentId);
  if (segment === undefined || !segment.has(index)) return "gone";
  const known = segment.entryOf(index);
  if (known === null ? index < segment.readyEnd : known.state === "ready") return "wasDue";
  const entry = isolate(queue, segment, index);
  // An id that no consumer holds: late settlements find another one, and it shows that `atMs` is not the send's due
  // time.
  entry.leaseId = queue.nextLeaseId++;
  toWaiting(queue, entry, nowMs, nowMs);
  return "due";
}

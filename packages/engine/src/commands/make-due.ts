import { advance } from "../queue/advance.ts";
import { isolate } from "../queue/isolate.ts";
import type { Queue } from "../queue/queue.ts";
import { toWaiting } from "../queue/transitions.ts";
import type { MessagePosition } from "./purge.ts";

/**
 * `ready` from `delayed` or `leased`, because somebody says so: one message may be delivered now. Whoever holds it goes
 * on and its settlement finds nothing, but that a client may still delete what it received on a standard queue. The
 * delivery that is ended counts; it is no reason to die.
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
  // An id that nobody holds: late settlements find another one, and it tells that `atMs` is not the send's due time.
  entry.leaseId = queue.nextLeaseId++;
  toWaiting(queue, entry, nowMs, nowMs);
  return "due";
}

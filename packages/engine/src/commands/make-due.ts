import { advance } from "../queue/advance.ts";
import { isolate } from "../queue/isolate.ts";
import type { Queue } from "../queue/queue.ts";
import { toWaiting } from "../queue/transitions.ts";
import type { MessagePosition } from "./purge.ts";

/**
 * Makes one delayed or leased message ready, by hand. A consumer that holds it goes on, and its settlement finds
 * nothing; on a standard queue a client may still delete the message that it received. The delivery that is ended
 * counts, but does not make the message dead.
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
  // A new id that no consumer holds: late settlements do not match it, and an entry with an id is due at its own
  // `atMs`, not at the send's due time.
  entry.leaseId = queue.nextLeaseId++;
  toWaiting(queue, entry, nowMs, nowMs);
  return "due";
}

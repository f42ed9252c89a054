import { type Queue, release } from "@sluice/engine";

/**
 * Ends every push lease without counting its delivery: call once after a restart for which neither consumer nor message
 * can be blamed. Otherwise producers that fill a disk would use up the attempts of what is being delivered.
 *
 * @returns how many messages were in delivery.
 */
export function giveBackPushLeases(queue: Queue, nowMs: number): number {
  let count = 0;
  for (const segment of [...queue.segments.values()]) {
    for (const { state, leaseKind, leaseId, from, to } of [...segment.entries]) {
      if (state !== "leased" || leaseKind !== "push") continue;
      count += to - from;
      release(queue, { leaseId, segmentId: segment.id, from, to }, nowMs, nowMs);
    }
  }
  return count;
}

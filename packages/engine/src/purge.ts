import { expireUntouched } from "./expire.ts";
import type { Queue } from "./queue.ts";
import { lift, removeEntry } from "./transitions.ts";

/**
 * `purged` from any state: every message is gone, delayed and leased ones included (spec cloudflare-queues 4). Whoever
 * works on a leased one goes on; its settlement finds nothing.
 *
 * @returns how many are gone.
 */
export function purge(queue: Queue): number {
  let purged = 0;
  for (const segment of [...queue.segments.values()]) {
    for (const entry of [...segment.entries]) {
      lift(queue, entry);
      purged += entry.count;
      removeEntry(queue, entry);
    }
    purged += expireUntouched(queue, segment, Number.POSITIVE_INFINITY);
  }
  return purged;
}

import { Group } from "./group.ts";
import { visibleSinceMs } from "./group-order.ts";
import type { Queue } from "./queue.ts";

/** Since when the first message that could be leased now has been ready, in ms; `null` when there is none. */
export function firstReadyMs(queue: Queue): number | null {
  queue.order?.settle(queue);
  const first = queue.ready.peek() ?? queue.order?.fallback();
  if (first === undefined) return null;
  return first instanceof Group ? readySinceMs(first) : first.atMs;
}

/** A noisy group stands in line by its messages in flight, not by its first one. */
function readySinceMs(group: Group): number {
  const [segment, i] = [group.messages.segmentAt(0), group.messages.indexAt(0)];
  return visibleSinceMs(segment, i, segment.entryOf(i));
}

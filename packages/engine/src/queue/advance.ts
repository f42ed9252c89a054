import { visibleSinceMs } from "../order/group-order.ts";
import { Entry, Group, type Segment } from "../segments/segment.ts";
import { orderIn, type Queue } from "./queue.ts";
import { enterReady, indexUntouched } from "./transitions.ts";

/** Moves every message whose due time has come from `delayed` to `ready`. Writes nothing: due times are stored. */
export function advance(queue: Queue, nowMs: number): void {
  for (
    let node = queue.delayed.peek();
    node !== undefined && node.atMs <= nowMs;
    node = queue.delayed.peek()
  ) {
    if (node instanceof Entry) {
      queue.delayed.remove(node);
      node.state = "ready";
      queue.delayedCount -= node.count;
      enterReady(queue, node);
    } else {
      advanceSegment(queue, node.segment, nowMs);
    }
  }
}

/** Moves a segment's untouched messages that are due from `delayed` to `ready`. */
export function advanceSegment(queue: Queue, segment: Segment, nowMs: number): void {
  const before = segment.readyEnd;
  while (segment.readyEnd < segment.count && segment.dueOf(segment.readyEnd) <= nowMs) {
    segment.readyEnd = segment.runEnd(segment.readyEnd);
  }
  queue.readyCount += segment.readyEnd - before;
  queue.delayedCount -= segment.readyEnd - before;
  orderIn(queue, segment)?.becameReady(segment, before, segment.readyEnd, null);
  indexUntouched(queue, segment);
}

/** When the first message that could be leased now became ready, in ms; `null` when there is none. */
export function firstReadyMs(queue: Queue): number | null {
  queue.order?.sortGroups(queue);
  const first = queue.ready.peek() ?? queue.order?.fallback();
  if (first === undefined) return null;
  return first instanceof Group ? readySinceMs(first) : first.atMs;
}

/**
 * When the first message of a group became ready, in ms. `atMs` of a noisy group is no time but its number of messages
 * in flight.
 */
function readySinceMs(group: Group): number {
  const [segment, i] = [group.messages.segmentAt(0), group.messages.indexAt(0)];
  return visibleSinceMs(segment, i, segment.entryOf(i));
}

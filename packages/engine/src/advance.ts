import { Entry } from "./entry.ts";
import type { Queue } from "./queue.ts";
import type { Segment } from "./segment.ts";
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
  if (segment.groups !== null) queue.order?.becameReady(segment, before, segment.readyEnd, null);
  indexUntouched(queue, segment);
}

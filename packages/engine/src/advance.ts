import { Entry } from "./entry.ts";
import type { Queue } from "./queue.ts";
import { advanceSegment } from "./send.ts";

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
      queue.ready.push(node);
      queue.delayedCount -= node.count;
      queue.readyCount += node.count;
    } else {
      advanceSegment(queue, node.segment, nowMs);
    }
  }
}

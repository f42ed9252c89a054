import type { Queue } from "../queue/queue.ts";
import { type HeapNode, TimeHeap } from "../segments/heap.ts";
import type { Segment, Slice } from "../segments/segment.ts";

/** Waiting messages [from, to) of a segment, due together. */
interface Stretch extends HeapNode {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
  readonly attempts: number;
  /** Whether the next run of the segment comes after it. */
  readonly isUntouched: boolean;
}

/**
 * Returns the first `max` messages that wait, ready and delayed ones, by (due time, sequence number), and changes
 * nothing. There are fewer when they would have more than `bytesMax` bytes together, but always one.
 *
 * Costs a heap node for each segment and each touched stretch, and the nodes that are looked at.
 */
export function peek(queue: Queue, max: number, bytesMax = Infinity): Slice[] {
  const stretches = new TimeHeap<Stretch>();
  for (const segment of queue.segments.values()) {
    pushRun(stretches, segment, segment.cursor);
    for (const { state, from, to, attempts, atMs, seq } of segment.entries) {
      if (state === "leased") continue;
      stretches.push({ segment, from, to, attempts, isUntouched: false, atMs, seq, at: -1 });
    }
  }
  const slices: Slice[] = [];
  let [missing, room] = [max, bytesMax];
  for (let stretch = stretches.peek(); missing > 0 && stretch !== undefined; stretch = stretches.peek()) {
    stretches.remove(stretch);
    const { segment, from, attempts, isUntouched } = stretch;
    const wanted = Math.min(stretch.to, from + missing);
    let to = from;
    while (to < wanted) {
      room -= segment.bytes(to, to + 1);
      // The first message, and others that fit.
      if (room < 0 && (to > from || slices.length > 0)) break;
      to += 1;
    }
    if (to > from) slices.push({ segmentId: segment.id, from, to, attempts });
    if (to < wanted) break;
    missing -= to - from;
    if (isUntouched) pushRun(stretches, segment, stretch.to);
  }
  return slices;
}

/** Adds the run of untouched messages that begins at `from`. */
function pushRun(stretches: TimeHeap<Stretch>, segment: Segment, from: number): void {
  if (from >= segment.count) return;
  const [to, atMs, seq] = [segment.runEnd(from), segment.dueOf(from), segment.seqOf(from)];
  stretches.push({ segment, from, to, attempts: 0, isUntouched: true, atMs, seq, at: -1 });
}

import { Entry, type Segment, splitOff } from "../segments/segment.ts";
import { orderIn, type Queue } from "./queue.ts";
import { indexUntouched, lift, putBack } from "./transitions.ts";

/**
 * Makes one message an entry of its own, and takes it out of the heap and the counter of its state. The messages beside
 * it stay as they were. Throws `RangeError` when the message is gone.
 */
export function isolate(queue: Queue, segment: Segment, i: number): Entry {
  if (!segment.has(i)) throw new RangeError(`message ${i} of segment ${segment.id} is gone`);
  const entry = segment.entryOf(i);
  if (entry === null) return isolateUntouched(queue, segment, i);
  const { state, atMs } = entry;
  lift(queue, entry);
  if (i + 1 < entry.to) putBack(queue, splitOff(entry, i + 1), state, atMs);
  if (entry.from === i) return entry;
  const inside = splitOff(entry, i);
  putBack(queue, entry, state, atMs);
  return inside;
}

/** Isolates an untouched message. Those before it become entries without a delivery, as the cursor moves over them. */
function isolateUntouched(queue: Queue, segment: Segment, i: number): Entry {
  for (let from = segment.cursor; from < i; from = segment.cursor) {
    segment.cursor = stretchEnd(segment, from, i);
    addPassed(queue, new Entry(segment, from, segment.cursor, 0), from < segment.readyEnd);
  }
  const isReady = i < segment.readyEnd;
  if (isReady) {
    queue.readyCount -= 1;
    orderIn(queue, segment)?.leftReady(segment, i, i + 1, null);
  } else {
    queue.delayedCount -= 1;
  }
  queue.waitingBytes -= segment.bytes(i, i + 1);
  segment.cursor = i + 1;
  segment.readyEnd = Math.max(segment.readyEnd, segment.cursor);
  const entry = new Entry(segment, i, i + 1, 0);
  segment.insertEntry(entry);
  indexUntouched(queue, segment);
  return entry;
}

/** End of a stretch of messages that can be one entry: in one state, and of one due time where a heap orders them. */
function stretchEnd(segment: Segment, from: number, to: number): number {
  if (from >= segment.readyEnd) return Math.min(to, segment.runEnd(from));
  const readyEnd = Math.min(to, segment.readyEnd);
  return segment.groups === null ? Math.min(readyEnd, segment.runEnd(from)) : readyEnd;
}

/** Adds an entry of untouched messages that the cursor has passed. Their state and the counters stay. */
function addPassed(queue: Queue, entry: Entry, isReady: boolean): void {
  const { segment } = entry;
  // Those that are ready may have several due times, all of which have passed.
  entry.atMs = segment.dueOf(entry.from);
  segment.insertEntry(entry);
  if (!isReady) {
    entry.state = "delayed";
    queue.delayed.push(entry);
  } else if (segment.groups === null) {
    queue.ready.push(entry);
  }
}

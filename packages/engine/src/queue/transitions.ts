import type { Entry, EntryState, Segment } from "../segments/segment.ts";
import { noteChange, orderIn, type Queue } from "./queue.ts";

/*
 * Moves of touched messages between states. Each function keeps the heap, the counters and the list of changes in step.
 * Commands use nothing else; `advance.ts`, `isolate.ts` and `persist.ts` have moves of their own, which write nothing.
 */

/** Puts an entry that is in no heap among the waiting ones. */
export function toWaiting(queue: Queue, entry: Entry, dueMs: number, nowMs: number): void {
  entry.atMs = dueMs;
  queue.waitingBytes += entry.segment.bytes(entry.from, entry.to);
  if (dueMs <= nowMs) {
    entry.state = "ready";
    enterReady(queue, entry);
  } else {
    entry.state = "delayed";
    queue.delayed.push(entry);
    queue.delayedCount += entry.count;
  }
  noteChange(queue, entry.segment, "touched");
}

/** Puts an entry that is in no heap among the leased ones. */
export function toLeased(queue: Queue, entry: Entry, expiresMs: number): void {
  entry.state = "leased";
  entry.atMs = expiresMs;
  queue.leased.push(entry);
  noteLeased(queue, entry);
  noteChange(queue, entry.segment, "touched");
}

/** Puts an entry that is in no heap back into the state that it was lifted out of. */
export function putBack(queue: Queue, entry: Entry, state: EntryState, atMs: number): void {
  if (state === "leased") {
    toLeased(queue, entry, atMs);
    return;
  }
  entry.atMs = atMs;
  entry.state = state;
  queue.waitingBytes += entry.segment.bytes(entry.from, entry.to);
  noteChange(queue, entry.segment, "touched");
  if (state === "ready") {
    enterReady(queue, entry);
  } else {
    queue.delayed.push(entry);
    queue.delayedCount += entry.count;
  }
}

/** Counts the messages of an entry as leased. The entry is in the heap, or was joined to one that is. */
export function noteLeased(queue: Queue, { segment, from, to, count }: Entry): void {
  queue.leasedCount += count;
  orderIn(queue, segment)?.leaseChanged(segment, from, to, 1);
}

/** Puts an entry whose state is `ready` where ready messages are looked for. */
export function enterReady(queue: Queue, entry: Entry): void {
  queue.readyCount += entry.count;
  const order = orderIn(queue, entry.segment);
  if (order === null) queue.ready.push(entry);
  else order.becameReady(entry.segment, entry.from, entry.to, entry);
}

/** Takes an entry out of its heap and its count; the caller puts it somewhere else or drops it. */
export function lift(queue: Queue, entry: Entry): void {
  const { segment, from, to } = entry;
  const order = orderIn(queue, segment);
  // Ready messages of groups are in no heap.
  if (entry.at === -1 && (entry.state !== "ready" || order === null))
    throw new Error("the entry is in no heap");
  switch (entry.state) {
    case "ready":
      if (order === null) queue.ready.remove(entry);
      else order.leftReady(segment, from, to, entry);
      queue.readyCount -= entry.count;
      queue.waitingBytes -= segment.bytes(from, to);
      break;
    case "delayed":
      queue.delayed.remove(entry);
      queue.delayedCount -= entry.count;
      queue.waitingBytes -= segment.bytes(from, to);
      break;
    case "leased":
      queue.leased.remove(entry);
      queue.leasedCount -= entry.count;
      order?.leaseChanged(segment, from, to, -1);
      break;
  }
}

/** Drops an entry that is in no heap. */
export function removeEntry(queue: Queue, entry: Entry): void {
  const { segment, from, to, count } = entry;
  segment.removeEntry(entry);
  orderIn(queue, segment)?.removed(segment, from, to);
  forget(queue, segment, count);
}

/** Forgets `gone` messages of a segment, which are in no state any more. Deletes the segment with its last one. */
export function forget(queue: Queue, segment: Segment, gone: number): void {
  segment.remaining -= gone;
  if (segment.remaining > 0) {
    noteChange(queue, segment, "touched");
    return;
  }
  const tailAt = queue.tails.indexOf(segment);
  if (tailAt !== -1) queue.tails.splice(tailAt, 1);
  // Its own nodes have left the heaps with its last untouched message.
  queue.segments.delete(segment.id);
  // A segment that came and went between two commits was never written, and needs no delete.
  if (queue.changes.get(segment.id) === "created") queue.changes.delete(segment.id);
  else queue.changes.set(segment.id, "gone");
}

/** Puts a segment's untouched messages where the heaps expect them after its cursor or its end has moved. */
export function indexUntouched(queue: Queue, segment: Segment): void {
  const { readyNode, delayedNode } = segment;
  if (segment.cursor < segment.readyEnd && segment.groups === null) {
    readyNode.atMs = segment.dueOf(segment.cursor);
    readyNode.seq = segment.seqOf(segment.cursor);
    if (readyNode.at === -1) queue.ready.push(readyNode);
    else queue.ready.update(readyNode);
  } else {
    queue.ready.remove(readyNode);
  }
  if (segment.readyEnd < segment.count) {
    delayedNode.atMs = segment.dueOf(segment.readyEnd);
    delayedNode.seq = segment.seqOf(segment.readyEnd);
    if (delayedNode.at === -1) queue.delayed.push(delayedNode);
    else queue.delayed.update(delayedNode);
  } else {
    queue.delayed.remove(delayedNode);
  }
}

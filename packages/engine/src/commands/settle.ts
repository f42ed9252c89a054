import type { Queue } from "../queue/queue.ts";
import { lift, removeEntry, toLeased, toWaiting } from "../queue/transitions.ts";
import { type Entry, type Slice, sliceOf, splitOff } from "../segments/segment.ts";

/** Messages that a settlement names by lease. */
export interface LeasedRange {
  readonly leaseId: number;
  readonly segmentId: number;
  readonly from: number;
  readonly to: number;
}

/** Outcome of messages that failed. `dead` ones have left the queue: the caller moves or drops their bytes. */
export interface RetryOutcome {
  readonly retried: readonly Slice[];
  readonly dead: readonly Slice[];
}

/**
 * Deletes messages that were handled. Messages whose lease has ended meanwhile are left alone: another consumer may
 * hold them by now.
 *
 * @param gone list that the acknowledged messages are added to. Default: none.
 * @returns how many were acknowledged.
 */
export function acknowledge(queue: Queue, range: LeasedRange, gone?: Slice[]): number {
  let acked = 0;
  for (const entry of takeLeased(queue, range)) {
    acked += entry.count;
    gone?.push(sliceOf(entry));
    removeEntry(queue, entry);
  }
  return acked;
}

/** Takes messages out of the queue as dead, even with attempts left: the caller moves or drops their bytes. */
export function giveUp(queue: Queue, range: LeasedRange): Slice[] {
  return takeLeased(queue, range).map((entry) => {
    const slice = sliceOf(entry);
    removeEntry(queue, entry);
    return slice;
  });
}

/**
 * Lets messages of a failed delivery wait for the next one. Messages that have used `max_retries` are dead instead.
 *
 * @param dueMs when they may be delivered again.
 */
export function retry(queue: Queue, range: LeasedRange, dueMs: number, nowMs: number): RetryOutcome {
  const retried: Slice[] = [];
  const dead: Slice[] = [];
  for (const entry of takeLeased(queue, range)) {
    failEntry(queue, entry, dueMs, nowMs, { retried, dead });
  }
  return { retried, dead };
}

/**
 * Ends a delivery that no handler ran (the consumer does not exist or did not start), without counting it. Messages
 * that were never delivered go back to their place in the order.
 *
 * @param dueMs when messages that had been delivered before may be delivered again.
 * @returns how many of them the lease still held.
 */
export function release(queue: Queue, range: LeasedRange, dueMs: number, nowMs: number): number {
  let released = 0;
  for (const entry of takeLeased(queue, range)) {
    released += entry.to - entry.from;
    entry.attempts -= 1;
    if (entry.attempts === 0) returnToPlace(queue, entry, nowMs);
    else toWaiting(queue, entry, dueMs, nowMs);
  }
  return released;
}

/**
 * Returns the messages of a receive that expired or was ended: visible from `visibleMs` on. On a standard queue they go
 * back to their place in the order. On a FIFO queue that is their place in the group, and the group queues up again
 * (spec sqs 3.6, 4.2).
 */
export function returnReceived(queue: Queue, entry: Entry, visibleMs: number, nowMs: number): void {
  if (queue.isFifo) toWaiting(queue, entry, visibleMs, nowMs);
  else returnToPlace(queue, entry, nowMs);
}

/** Returns the messages of an entry to the due times they were sent with, which differ between the runs in it. */
function returnToPlace(queue: Queue, entry: Entry, nowMs: number): void {
  const { segment } = entry;
  const dueMs = segment.dueOf(entry.from);
  let to = segment.runEnd(entry.from);
  while (to < entry.to && segment.dueOf(to) === dueMs) to = segment.runEnd(to);
  const rest = to < entry.to ? splitOff(entry, to) : null;
  // Only a message that was made due by hand could be leased before its time.
  toWaiting(queue, entry, Math.min(dueMs, nowMs), nowMs);
  if (rest !== null) returnToPlace(queue, rest, nowMs);
}

/** Decides between another attempt and death for an entry that is in no heap. */
export function failEntry(
  queue: Queue,
  entry: Entry,
  dueMs: number,
  nowMs: number,
  outcome: { retried: Slice[]; dead: Slice[] },
): void {
  const slice = sliceOf(entry);
  if (entry.attempts > queue.rules.maxRetries) {
    removeEntry(queue, entry);
    outcome.dead.push(slice);
  } else {
    toWaiting(queue, entry, dueMs, nowMs);
    outcome.retried.push(slice);
  }
}

/** Takes the entries of the range that still have this lease out of the heap. Entries are cut at the range's ends. */
export function takeLeased(queue: Queue, range: LeasedRange): Entry[] {
  const segment = queue.segments.get(range.segmentId);
  if (segment === undefined) return [];
  const taken: Entry[] = [];
  for (let at = segment.entryAt(range.from); at < segment.entries.length; at++) {
    let entry = segment.entries[at] as Entry; // at < length
    if (entry.from >= range.to) break;
    if (entry.state !== "leased" || entry.leaseId !== range.leaseId) continue;
    lift(queue, entry);
    const expiresMs = entry.atMs;
    if (entry.to > range.to) toLeased(queue, splitOff(entry, range.to), expiresMs);
    if (entry.from < range.from) {
      const inside = splitOff(entry, range.from);
      toLeased(queue, entry, expiresMs);
      entry = inside;
      at += 1;
    }
    taken.push(entry);
  }
  return taken;
}

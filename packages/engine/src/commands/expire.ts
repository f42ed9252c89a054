import { isolate } from "../queue/isolate.ts";
import { orderIn, type Queue } from "../queue/queue.ts";
import { forget, indexUntouched, lift, putBack, removeEntry } from "../queue/transitions.ts";
import { type Entry, type Segment, type Slice, sliceOf, splitOff } from "../segments/segment.ts";
import { DEAD_MESSAGE_BYTES, DeadLetters } from "./lease.ts";
import { failEntry, type RetryOutcome, returnReceived } from "./settle.ts";

/**
 * Ends the leases that have expired.
 *
 * - `push`: the delivery ran too long and failed. Its messages wait before the next delivery.
 * - `pull`: its messages are visible again at once.
 * - `receive`: its messages go back to their place.
 *
 * @param delayMsOf returns how long the messages of a failed push delivery wait, in ms; they are all on the same
 *   attempt. Default: the queue's retry delay.
 * @param deadBytesMax bytes of dead messages after which no further lease is ended: the next call goes on. Default: no
 *   limit.
 */
export function expireLeases(
  queue: Queue,
  nowMs: number,
  delayMsOf: (failed: Slice) => number = () => queue.rules.retryDelayMs,
  deadBytesMax = Infinity,
): RetryOutcome {
  const outcome: { retried: Slice[]; dead: Slice[] } = { retried: [], dead: [] };
  const deadLetters = new DeadLetters(deadBytesMax);
  for (
    let entry = queue.leased.peek();
    entry !== undefined && entry.atMs <= nowMs && !deadLetters.isFull;
    entry = queue.leased.peek()
  ) {
    const slice = sliceOf(entry);
    if (entry.leaseKind !== "receive" && entry.attempts > queue.rules.maxRetries)
      deadLetters.add(entry, slice);
    lift(queue, entry);
    if (entry.leaseKind === "receive") {
      returnReceived(queue, entry, entry.atMs, nowMs);
      continue;
    }
    const delayMs = entry.leaseKind === "push" ? delayMsOf(sliceOf(entry)) : 0;
    failEntry(queue, entry, nowMs + delayMs, nowMs, outcome);
  }
  return outcome;
}

/**
 * Ends every push lease: call once after a restart. The process that carried the deliveries out is gone, so none will
 * be settled; waiting for their expiry would only delay the messages. Their attempts count.
 *
 * @param dueMs when they may be delivered again. Default: at once.
 */
export function endPushLeases(queue: Queue, nowMs: number, dueMs = nowMs): RetryOutcome {
  const outcome: { retried: Slice[]; dead: Slice[] } = { retried: [], dead: [] };
  for (const segment of [...queue.segments.values()]) {
    for (const entry of [...segment.entries]) {
      if (entry.state !== "leased" || entry.leaseKind !== "push") continue;
      lift(queue, entry);
      failEntry(queue, entry, dueMs, nowMs, outcome);
    }
  }
  return outcome;
}

/**
 * Deletes messages that are older than the queue's retention: ready, delayed and received ones. A push or a pull lease
 * spares its messages until it has ended.
 *
 * @param noteExpired called for each stretch of them, for a caller that moves their bytes.
 * @param bytesMax bytes of messages after which no further segment is looked at: the next call goes on. Default: no
 *   limit.
 * @returns how many are gone.
 */
export function expireRetention(
  queue: Queue,
  nowMs: number,
  noteExpired: (expired: Slice) => void = () => {},
  bytesMax = Infinity,
): number {
  const acceptedUntilMs = nowMs - queue.rules.retentionMs;
  // Most calls end here; a segment of messages of mixed age is looked through message by message.
  if (oldestExpiringMs(queue) > acceptedUntilMs) return 0;
  let expired = 0;
  let room = bytesMax;
  for (const segment of queue.segments.values()) {
    if (room <= 0) break;
    const note = (slice: Slice) => {
      room -= segment.bytes(slice.from, slice.to) + (slice.to - slice.from) * DEAD_MESSAGE_BYTES;
      noteExpired(slice);
    };
    if (segment.runs.oldestMs > acceptedUntilMs) {
      if (queue.isAgeOrdered) break;
      continue;
    }
    if (!segment.runs.isAgeOrdered) {
      expired += expireOneByOne(queue, segment, acceptedUntilMs, note);
      continue;
    }
    const { cursor } = segment;
    const untouched = expireUntouched(queue, segment, acceptedUntilMs);
    expired += untouched;
    if (untouched > 0) {
      note({ segmentId: segment.id, from: cursor, to: cursor + untouched, attempts: 0 });
    }
    for (const entry of [...segment.entries]) {
      if (!canExpire(entry) || segment.acceptedOf(entry.from) > acceptedUntilMs) continue;
      const { state, atMs } = entry;
      lift(queue, entry);
      let to = entry.from;
      while (to < entry.to && segment.acceptedOf(to) <= acceptedUntilMs) to = segment.runEnd(to);
      if (to < entry.to) putBack(queue, splitOff(entry, to), state, atMs);
      expired += entry.count;
      note(sliceOf(entry));
      removeEntry(queue, entry);
    }
  }
  return expired;
}

/**
 * Expires the old messages of a segment that is not in order of their age: looks at each run, and at each old message
 * by itself.
 */
function expireOneByOne(
  queue: Queue,
  segment: Segment,
  acceptedUntilMs: number,
  noteExpired: (expired: Slice) => void,
): number {
  let expired = 0;
  for (let from = 0; from < segment.count; from = segment.runEnd(from)) {
    if (segment.acceptedOf(from) > acceptedUntilMs) continue;
    for (let i = from; i < segment.runEnd(from); i++) {
      const known = segment.entryOf(i);
      if (!segment.has(i) || (known !== null && !canExpire(known))) continue;
      const entry = isolate(queue, segment, i);
      noteExpired(sliceOf(entry));
      removeEntry(queue, entry);
      expired += 1;
    }
  }
  return expired;
}

/**
 * Commit time of the oldest message that waits, in ms; Infinity when none does. Segments are in order of their first
 * message, but one that was appended to may have lost its old messages: a later one can hold the oldest.
 */
export function oldestWaitingMs(queue: Queue): number {
  return oldestMsOf(queue, isWaiting);
}

/** Commit time of the oldest message, in whatever state, in ms; Infinity when there is none. */
export function oldestMs(queue: Queue): number {
  return oldestMsOf(queue, () => true);
}

/** Commit time of the oldest message that retention ends, in ms; Infinity when there is none. */
export function oldestExpiringMs(queue: Queue): number {
  return oldestMsOf(queue, canExpire);
}

function isWaiting({ state }: Entry): boolean {
  return state !== "leased";
}

/**
 * Whether a message expires now. A received one does, even while a client works on it (spec sqs 3.1); other leases
 * spare theirs.
 */
function canExpire({ state, leaseKind }: Entry): boolean {
  return state !== "leased" || leaseKind === "receive";
}

/** Commit time of the oldest message that is untouched, or in an entry that counts, in ms; Infinity for none. */
function oldestMsOf(queue: Queue, counts: (entry: Entry) => boolean): number {
  let oldestMs = Infinity;
  for (const segment of queue.segments.values()) {
    const { runs } = segment;
    if (runs.oldestMs >= oldestMs) {
      if (queue.isAgeOrdered) break;
      continue;
    }
    if (!runs.isAgeOrdered) {
      oldestMs = Math.min(oldestMs, oldestInMs(segment, counts));
      continue;
    }
    const touched = segment.entries.find(counts);
    const first = Math.min(touched?.from ?? segment.count, segment.cursor);
    if (first < segment.count) oldestMs = Math.min(oldestMs, segment.acceptedOf(first));
  }
  return oldestMs;
}

/** `oldestMsOf` for one segment whose messages are not in order of their age. */
function oldestInMs(segment: Segment, counts: (entry: Entry) => boolean): number {
  let oldestMs = Infinity;
  for (const { from, to } of [
    ...segment.entries.filter(counts),
    { from: segment.cursor, to: segment.count },
  ]) {
    for (let i = from; i < to; i = segment.runEnd(i)) oldestMs = Math.min(oldestMs, segment.acceptedOf(i));
  }
  return oldestMs;
}

/**
 * Deletes the untouched messages of a segment that were accepted at `acceptedUntilMs` or before, up to the first one
 * that was accepted later.
 *
 * @returns how many there were.
 */
export function expireUntouched(queue: Queue, segment: Segment, acceptedUntilMs: number): number {
  const from = segment.cursor;
  let to = from;
  while (to < segment.count && segment.acceptedOf(to) <= acceptedUntilMs) to = segment.runEnd(to);
  if (to === from) return 0;
  const readyGone = Math.max(0, Math.min(to, segment.readyEnd) - from);
  queue.readyCount -= readyGone;
  queue.delayedCount -= to - from - readyGone;
  queue.waitingBytes -= segment.bytes(from, to);
  const order = orderIn(queue, segment);
  order?.leftReady(segment, from, from + readyGone, null);
  order?.removed(segment, from, to);
  segment.cursor = to;
  segment.readyEnd = Math.max(segment.readyEnd, to);
  indexUntouched(queue, segment);
  forget(queue, segment, to - from);
  return to - from;
}

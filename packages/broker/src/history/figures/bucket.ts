import { type HistoryKind, TOOK_MS_CLASSES } from "@sluice/protocol";
import { noTook, tookClassOf } from "./totals.ts";

/** Messages that a queue holds at a moment, and since when the oldest of them waits, in ms. */
export interface Level {
  readonly held: number;
  /** `null` if none waits. */
  readonly oldestMs: number | null;
}

/**
 * Figures of a queue in one minute, or in one second: messages by kind of event, and how full the queue was.
 *
 * A contract: minutes are stored as JSON. Members keep their meaning, and only optional ones may be added.
 */
export interface Bucket {
  /** Number of the minute, or of the second, since 1970 by the queue's clock. */
  readonly at: number;
  /** Messages by kind of event. */
  readonly counts: Partial<Record<HistoryKind, number>>;
  /** Messages in the queue: at the end of its last turn, and the most after any turn. */
  held: number;
  heldMax: number;
  /** Since when the oldest message waited at the end of the last turn, in ms; absent if none did. */
  oldestMs?: number;
  /** Greatest age of the oldest message after any turn, in ms. */
  ageMaxMs: number;
  /** Deliveries that ended, by `TOOK_MS_CLASSES`; absent if none did. */
  tookMs?: number[];
  /** The longest of them, in ms. */
  tookMaxMs?: number;
  /** Time by which the clock was moved forward into it, in ms. That time never passed. */
  movedMs?: number;
  /** Times of the first and the last note in it, in ms; absent where a part of it was stored without them. */
  firstMs?: number;
  lastMs?: number;
  /** Marks of a chart, in the order of time: kind, time in ms and, of a move of the clock, by how much in ms. */
  marks?: Mark[];
}

/** Something in a bucket that is no figure. */
export type Mark = readonly [kind: string, atMs: number, byMs?: number];

/**
 * Smallest move of a clock that is noted, in ms. A queue is notified of a change some ms later, about 40 on a busy
 * machine: the step by which its clock catches up at the end of a freeze is no move.
 */
export const CLOCK_MOVED_MS_MIN = 100;
/** Most marks of a bucket: the newest ones. */
export const MARKS_MAX = 20;

export function newBucket(at: number): Bucket {
  return { at, counts: {}, held: 0, heldMax: 0, ageMaxMs: 0 };
}

export function addEvent(bucket: Bucket, kind: HistoryKind, messages: number): void {
  if (messages > 0) bucket.counts[kind] = (bucket.counts[kind] ?? 0) + messages;
}

/** Adds the duration of a delivery, in ms. */
export function addTook(bucket: Bucket, tookMs: number): void {
  bucket.tookMs ??= noTook();
  const place = tookClassOf(tookMs);
  bucket.tookMs[place] = (bucket.tookMs[place] ?? 0) + 1;
  bucket.tookMaxMs = Math.max(bucket.tookMaxMs ?? 0, tookMs);
}

/** Adds a time at which something was noted. */
export function addTime(bucket: Bucket, nowMs: number): void {
  bucket.firstMs ??= nowMs;
  bucket.lastMs = nowMs;
}

export function addMarks(bucket: Bucket, marks: readonly Mark[]): void {
  bucket.marks = [...(bucket.marks ?? []), ...marks].sort(([, a], [, b]) => a - b).slice(-MARKS_MAX);
}

export function addLevel(bucket: Bucket, { held, oldestMs }: Level, nowMs: number): void {
  bucket.held = held;
  bucket.heldMax = Math.max(bucket.heldMax, held);
  if (oldestMs === null) {
    delete bucket.oldestMs;
    return;
  }
  bucket.oldestMs = oldestMs;
  bucket.ageMaxMs = Math.max(bucket.ageMaxMs, nowMs - oldestMs);
}

/**
 * Adds what another bucket has, of the same time or of a time beside it. @param isLater whether its level is the last.
 */
export function addBucket(to: Bucket, from: Bucket, isLater = from.at >= to.at): void {
  for (const [kind, messages] of Object.entries(from.counts) as [HistoryKind, number][]) {
    to.counts[kind] = (to.counts[kind] ?? 0) + messages;
  }
  if (isLater) {
    to.held = from.held;
    if (from.oldestMs === undefined) delete to.oldestMs;
    else to.oldestMs = from.oldestMs;
  }
  to.heldMax = Math.max(to.heldMax, from.heldMax);
  to.ageMaxMs = Math.max(to.ageMaxMs, from.ageMaxMs);
  addTimes(to, from);
  if (from.marks !== undefined) addMarks(to, from.marks);
  if (from.movedMs !== undefined) to.movedMs = (to.movedMs ?? 0) + from.movedMs;
  if (from.tookMs === undefined) return;
  const { tookMs = noTook() } = to;
  to.tookMs = tookMs.map((count, place) => count + (from.tookMs?.[place] ?? 0));
  to.tookMaxMs = Math.max(to.tookMaxMs ?? 0, from.tookMaxMs ?? 0);
}

function addTimes(to: Bucket, from: Bucket): void {
  if (to.firstMs !== undefined && from.firstMs !== undefined) to.firstMs = Math.min(to.firstMs, from.firstMs);
  else delete to.firstMs;
  if (to.lastMs !== undefined && from.lastMs !== undefined) to.lastMs = Math.max(to.lastMs, from.lastMs);
  else delete to.lastMs;
}

export function copyOf(bucket: Bucket): Bucket {
  const { counts, tookMs } = bucket;
  return { ...bucket, counts: { ...counts }, ...(tookMs === undefined ? {} : { tookMs: [...tookMs] }) };
}

/**
 * Finds the duration that a part of the deliveries did not exceed, in ms: the upper end of its class, or the longest
 * duration if that is less; `null` without any delivery.
 */
export function tookUpTo(bucket: Bucket | null, part: number): number | null {
  const { tookMs = [], tookMaxMs = 0 } = bucket ?? {};
  const total = tookMs.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let passed = 0;
  const place = tookMs.findIndex((count) => {
    passed += count;
    return passed >= part * total;
  });
  return Math.min(TOOK_MS_CLASSES[place] ?? tookMaxMs, tookMaxMs);
}

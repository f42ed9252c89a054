import {
  createQueue,
  encodeIndex,
  encodeState,
  type Lease,
  lease,
  type Queue,
  type QueueRules,
  send,
} from "../src/index.ts";
import type { Slice } from "../src/segments/segment.ts";

/** When the tests begin, in ms: far from 0, so that a forgotten `now` shows. */
export const T0 = 1_000_000;

/** Rules that let every part of the engine be seen; a test overrides what it is about. */
export const RULES: QueueRules = {
  maxBatchSize: 10,
  batchTimeoutMs: 5_000,
  maxRetries: 3,
  maxConcurrency: null,
  retryDelayMs: 0,
  retentionMs: 1_000_000_000,
  pushLeaseMs: 900_000,
};

export function queueWith(rules: Partial<QueueRules> = {}, epoch = 1): Queue {
  return createQueue({ ...RULES, ...rules }, epoch);
}

/** Sends `count` messages of 10 bytes that are due at `dueMs`, and answers with the id of their segment. */
export function sendMany(queue: Queue, count: number, nowMs: number = T0, dueMs: number = nowMs): number {
  return send(queue, { sizes: Array<number>(count).fill(10), dueMs }, nowMs).segmentId;
}

/** A queue with `count` messages of 10 bytes that are ready at `T0`. */
export function queueOf(count: number, rules: Partial<QueueRules> = {}, epoch = 1): Queue {
  const queue = queueWith(rules, epoch);
  sendMany(queue, count);
  return queue;
}

/** Sends messages in a segment of their own: no tail takes them, and they are no tail afterwards. */
export function sendApart(queue: Queue, count: number, nowMs: number = T0, dueMs: number = nowMs): number {
  queue.tails.length = 0;
  const segmentId = sendMany(queue, count, nowMs, dueMs);
  queue.tails.length = 0;
  return segmentId;
}

/** Leases up to `max` messages for a puller; fails if there is none. */
export function pull(queue: Queue, max: number, nowMs: number = T0, expiresMs = nowMs + 30_000): Lease {
  return held(lease(queue, { max, expiresMs, kind: "pull" }, nowMs));
}

export function held(batch: Lease | null): Lease {
  if (batch === null) throw new Error("nothing was leased");
  return batch;
}

/** Sequence numbers of the messages of slices, in their order. */
export function seqsOf(queue: Queue, slices: readonly Slice[]): number[] {
  return slices.flatMap(({ segmentId, from, to }) => {
    const segment = queue.segments.get(segmentId);
    if (segment === undefined) throw new Error(`segment ${segmentId} is gone`);
    return Array.from({ length: to - from }, (_, i) => segment.seqOf(from + i));
  });
}

/** The ranges of a lease as a settlement names them. */
export function rangesOf(batch: Lease) {
  return batch.slices.map((slice) => ({ ...slice, leaseId: batch.leaseId }));
}

/** The first range of a lease; fails if there is none. */
export function firstRangeOf(batch: Lease) {
  const [range] = rangesOf(batch);
  if (range === undefined) throw new Error("nothing was leased");
  return range;
}

/** Stored row of a segment. */
export interface Row {
  readonly id: number;
  readonly index: Uint8Array;
  readonly state: Uint8Array | null;
}

/** Returns the rows that are stored of a queue, segment by segment. */
export function rowsOf(queue: Queue): Row[] {
  return [...queue.segments.values()].map((segment) => ({
    id: segment.id,
    index: encodeIndex(segment),
    state: encodeState(segment),
  }));
}

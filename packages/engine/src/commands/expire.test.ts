import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import {
  firstRangeOf,
  held,
  pull,
  queueOf,
  queueWith,
  rangesOf,
  sendApart,
  sendMany,
  T0,
} from "../../test/queues.ts";
import {
  acknowledge,
  counts,
  encodeIndex,
  encodeState,
  endPushLeases,
  expireLeases,
  expireRetention,
  nextBatch,
  nextWakeAt,
  oldestMs,
  type Queue,
  restoreSegment,
  retry,
  send,
} from "../index.ts";

/** Leases what is ready for push delivery. */
function push(queue: Queue, nowMs = T0) {
  return held(nextBatch(queue, nowMs));
}

describe("expireLeases", () => {
  it.each([
    [T0 + 29_999, 0, 2],
    [T0 + 30_000, 2, 0],
    [T0 + 30_001, 2, 0],
  ])(
    "expireLeases at %i has %i ready and %i leased of a pull lease until 1030000",
    (nowMs, ready, leased) => {
      const queue = queueOf(2, { retryDelayMs: 60_000 });
      pull(queue, 2, T0, T0 + 30_000);
      expireLeases(queue, nowMs);
      expect(counts(queue)).toMatchObject({ ready, delayed: 0, leased });
      checkInvariants(queue);
    },
  );

  // conformance: what-counts-as-a-try
  it("gives what a puller let lapse back at once, with the attempt counted", () => {
    const queue = queueWith({ retryDelayMs: 60_000 });
    const segmentId = sendMany(queue, 2);
    pull(queue, 2, T0, T0 + 100);
    expect(expireLeases(queue, T0 + 100)).toEqual({
      retried: [{ segmentId, from: 0, to: 2, attempts: 1 }],
      dead: [],
    });
    expect(pull(queue, 2, T0 + 100).slices).toEqual([expect.objectContaining({ attempts: 2 })]);
  });

  it("retries a push delivery that ran too long after the queue's retry delay", () => {
    const queue = queueOf(1, { retryDelayMs: 60_000, pushLeaseMs: 900_000, batchTimeoutMs: 0 });
    push(queue);
    expireLeases(queue, T0 + 900_000);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 1, leased: 0 });
    expect(pull(queue, 1, T0 + 960_000).slices).toEqual([expect.objectContaining({ attempts: 2 })]);
  });

  it("retries it after what the caller says instead, by its attempts, and asks for push deliveries alone", () => {
    const queue = queueWith({ retryDelayMs: 60_000, pushLeaseMs: 100, batchTimeoutMs: 0 });
    const segmentId = sendMany(queue, 2);
    const asked: object[] = [];
    push(queue);
    const delayMsOf = (failed: object) => asked.push(failed) * 5_000;
    expireLeases(queue, T0 + 100, delayMsOf);
    expect(asked).toEqual([{ segmentId, from: 0, to: 2, attempts: 1 }]);
    expect(queue.delayed.peek()?.atMs).toBe(T0 + 5_100);
    pull(queue, 2, T0 + 5_100, T0 + 6_000);
    expireLeases(queue, T0 + 6_000, delayMsOf);
    expect(asked).toHaveLength(1);
    checkInvariants(queue);
  });

  it.each([
    ["pull", (queue: Queue) => pull(queue, 1, T0, T0 + 100)],
    ["push", (queue: Queue) => push(queue)],
    // conformance: what-counts-as-a-try
  ])("ends the last attempt of a %s lease with death", (_kind, take) => {
    const queue = queueWith({ maxRetries: 0, pushLeaseMs: 100, batchTimeoutMs: 0 });
    const segmentId = sendMany(queue, 1);
    take(queue);
    expect(expireLeases(queue, T0 + 100)).toEqual({
      retried: [],
      dead: [{ segmentId, from: 0, to: 1, attempts: 1 }],
    });
    expect(queue.segments.size).toBe(0);
    checkInvariants(queue);
  });

  it("ends every lease whose time is up and no other", () => {
    const queue = queueOf(3);
    for (const forMs of [300, 100, 200]) pull(queue, 1, T0, T0 + forMs);
    const { retried } = expireLeases(queue, T0 + 200);
    expect(retried.map((slice) => slice.from).sort()).toEqual([1, 2]);
    expect(counts(queue)).toMatchObject({ ready: 2, leased: 1 });
  });
});

it.each([
  [0, 0, 0],
  [1, 1, 2],
  [220, 1, 2],
  [221, 2, 3],
  [330, 2, 3],
  [331, 2, 3],
])(
  "leases that end in death, of which memory has room for some with room for %i bytes end %i of two leases: %i of three messages",
  (room, leases, dead) => {
    const queue = queueWith({ maxRetries: 0 });
    sendApart(queue, 2);
    sendApart(queue, 1);
    pull(queue, 2, T0, T0 + 1);
    pull(queue, 1, T0, T0 + 2);
    const outcome = expireLeases(queue, T0 + 2, () => 0, room);
    expect(outcome.dead).toHaveLength(leases);
    expect(counts(queue)).toMatchObject({ leased: 3 - dead });
    expireLeases(queue, T0 + 2);
    expect(counts(queue)).toMatchObject({ leased: 0 });
    checkInvariants(queue);
  },
);

describe("endPushLeases", () => {
  it("releases deliveries that a restart has cut off at once, with the attempt counted", () => {
    const queue = queueWith({ retryDelayMs: 60_000, batchTimeoutMs: 0 });
    const segmentId = sendMany(queue, 2);
    push(queue);
    expect(endPushLeases(queue, T0 + 1)).toEqual({
      retried: [{ segmentId, from: 0, to: 2, attempts: 1 }],
      dead: [],
    });
    expect(counts(queue)).toMatchObject({ ready: 2, delayed: 0, leased: 0 });
    expect(pull(queue, 2, T0 + 1).slices).toEqual([expect.objectContaining({ attempts: 2 })]);
    checkInvariants(queue);
  });

  it("lets messages wait that have another attempt", () => {
    const queue = queueOf(2, { batchTimeoutMs: 0 });
    push(queue);
    expect(endPushLeases(queue, T0, T0 + 5).retried).toHaveLength(1);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 2, leased: 0 });
    expect(pull(queue, 2, T0 + 5).count).toBe(2);
    checkInvariants(queue);
  });

  it("ends what a settlement has left of a delivery", () => {
    const queue = queueOf(3, { batchTimeoutMs: 0 });
    const range = firstRangeOf(push(queue));
    acknowledge(queue, { ...range, from: 1, to: 2 });
    expect(endPushLeases(queue, T0).retried.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(counts(queue)).toMatchObject({ ready: 2, leased: 0 });
  });

  it("leaves pull leases and waiting messages alone", () => {
    const queue = queueOf(3, { batchTimeoutMs: 0, maxBatchSize: 1 });
    pull(queue, 1);
    push(queue);
    expect(endPushLeases(queue, T0).retried).toHaveLength(1);
    expect(counts(queue)).toMatchObject({ ready: 2, leased: 1 });
  });

  it("ends the last attempt with death", () => {
    const queue = queueOf(2, { batchTimeoutMs: 0, maxRetries: 0 });
    push(queue);
    expect(endPushLeases(queue, T0)).toMatchObject({ retried: [], dead: [{ from: 0, to: 2, attempts: 1 }] });
    expect(queue.segments.size).toBe(0);
    checkInvariants(queue);
  });
});

// conformance: retention
describe("expireRetention", () => {
  const retentionMs = 60_000;

  it.each([
    [T0 + retentionMs - 1, 0],
    [T0 + retentionMs, 3],
    [T0 + retentionMs + 1, 3],
  ])(
    "expireRetention at %i has deleted %i messages that were accepted at 1000000 and are kept for 60 s",
    (nowMs, gone) => {
      const queue = queueOf(3, { retentionMs });
      expect(expireRetention(queue, nowMs)).toBe(gone);
      expect(counts(queue)).toMatchObject({ ready: 3 - gone, waitingBytes: 10 * (3 - gone) });
      expect(queue.segments.size).toBe(gone === 0 ? 1 : 0);
      checkInvariants(queue);
    },
  );

  it("deletes delayed messages too: retention runs from the send", () => {
    const queue = queueWith({ retentionMs });
    sendMany(queue, 2, T0, T0 + 2 * retentionMs);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(2);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 0, waitingBytes: 0 });
    checkInvariants(queue);
  });

  it("deletes the old messages of a segment and keeps those that were appended later", () => {
    const queue = queueWith({ retentionMs });
    const segmentId = sendMany(queue, 2, T0);
    expect(sendMany(queue, 1, T0 + 1_000)).toBe(segmentId);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(2);
    expect(counts(queue)).toMatchObject({ ready: 1, oldestWaitingMs: T0 + 1_000 });
    expect(pull(queue, 9, T0 + retentionMs).slices).toEqual([expect.objectContaining({ from: 2, to: 3 })]);
    checkInvariants(queue);
  });

  it("deletes ready and delayed messages of one segment", () => {
    const queue = queueWith({ retentionMs });
    send(queue, { sizes: [1, 1, 1], dueMs: [T0, T0 + 10, T0 + 2 * retentionMs] }, T0);
    send(queue, { sizes: [1], dueMs: T0 + 2 * retentionMs }, T0 + 1);
    expect(queue.segments.size).toBe(1);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(3);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 1, waitingBytes: 1 });
    checkInvariants(queue);
  });

  it("spares leased messages until their lease has ended", () => {
    const queue = queueOf(2, { retentionMs });
    pull(queue, 1, T0, T0 + 2 * retentionMs);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(1);
    expect(counts(queue)).toMatchObject({ ready: 0, leased: 1 });
    expireLeases(queue, T0 + 2 * retentionMs);
    expect(expireRetention(queue, T0 + 2 * retentionMs)).toBe(1);
    expect(queue.segments.size).toBe(0);
    checkInvariants(queue);
  });

  it.each([
    ["ready", 0],
    ["delayed", 10 * retentionMs],
  ])("deletes a retried message that is %s", (_state, delayMs) => {
    const queue = queueOf(1, { retentionMs });
    for (const range of rangesOf(pull(queue, 1))) retry(queue, range, T0 + delayMs, T0);
    expect(expireRetention(queue, T0 + retentionMs - 1)).toBe(0);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(1);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 0, waitingBytes: 0 });
    checkInvariants(queue);
  });

  it("deletes the old part of a stretch that was retried as one, and keeps the rest waiting", () => {
    const queue = queueWith({ retentionMs });
    sendMany(queue, 2, T0);
    sendMany(queue, 3, T0 + 1_000);
    const dueMs = T0 + 90_000;
    for (const range of rangesOf(pull(queue, 5, T0 + 2_000))) retry(queue, range, dueMs, T0 + 2_000);
    const [segment] = queue.segments.values();
    expect(segment?.entries).toHaveLength(1);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(2);
    expect(segment?.entries.map(({ from, to, atMs, attempts }) => [from, to, atMs, attempts])).toEqual([
      [2, 5, dueMs, 1],
    ]);
    expect(counts(queue)).toMatchObject({ delayed: 3, waitingBytes: 30 });
    checkInvariants(queue);
  });

  it("looks into every segment that has old messages, and leaves young ones alone", () => {
    const queue = queueWith({ retentionMs });
    for (const age of [0, 10, 20, 30]) sendApart(queue, 1, T0 + age);
    expect(expireRetention(queue, T0 + retentionMs + 20)).toBe(3);
    expect(counts(queue)).toMatchObject({ ready: 1, oldestWaitingMs: T0 + 30 });
  });

  it("finds old messages behind a segment whose old ones are gone", () => {
    const queue = queueWith({ retentionMs });
    const first = sendMany(queue, 1, T0);
    const second = sendMany(queue, 1, T0 + 10, T0 - 1);
    expect(sendMany(queue, 1, T0 + 20)).toBe(first);
    const batch = pull(queue, 2, T0 + 20);
    expect(batch.slices.map((slice) => slice.segmentId)).toEqual([second, first]);
    const [, range] = rangesOf(batch);
    if (range === undefined) throw new Error("two segments were leased");
    acknowledge(queue, range);
    for (const mine of rangesOf(batch)) retry(queue, mine, T0 + 20, T0 + 20);
    expect(counts(queue).oldestWaitingMs).toBe(T0 + 10);
    expect(expireRetention(queue, T0 + retentionMs + 10)).toBe(1);
    expect(counts(queue)).toMatchObject({ ready: 1, oldestWaitingMs: T0 + 20 });
    checkInvariants(queue);
  });
});

describe("dead letters, whose retention counts from their send (spec sqs 6.2)", () => {
  const retentionMs = 60_000;
  const sendAged = (queue: Queue, ages: number[], nowMs: number = T0) =>
    send(queue, { sizes: ages.map(() => 1), dueMs: nowMs, acceptedMs: ages.map((ms) => nowMs - ms) }, nowMs);

  it.each([false, true])(
    "dead letters, whose retention counts from their send go by their age, not in the order in which they came; touched: %s",
    (isTouched) => {
      const queue = queueOf(1, { retentionMs });
      sendAged(queue, [10_000, 30_000, 20_000]);
      if (isTouched) for (const range of rangesOf(pull(queue, 4))) retry(queue, range, T0, T0);
      expect(nextWakeAt(queue, false)).toBe(T0 + 30_000);
      expect(expireRetention(queue, T0 + 29_999)).toBe(0);
      expect(expireRetention(queue, T0 + 30_000)).toBe(1);
      expect(counts(queue)).toMatchObject({ ready: 3, oldestWaitingMs: T0 - 20_000 });
      expect(expireRetention(queue, T0 + 40_000)).toBe(1);
      expect(nextWakeAt(queue, false)).toBe(T0 + 50_000);
      expect(expireRetention(queue, T0 + 60_000)).toBe(2);
      expect(queue.segments.size).toBe(0);
      checkInvariants(queue);
    },
  );

  it("dead letters, whose retention counts from their send are found behind segments of younger messages, after a restart too", () => {
    const before = queueWith({ retentionMs });
    sendApart(before, 1);
    before.tails.length = 0;
    sendAged(before, [50_000]);
    const after = queueWith({ retentionMs }, 2);
    for (const [id, segment] of before.segments) {
      restoreSegment(after, id, encodeIndex(segment), encodeState(segment), T0);
    }
    for (const queue of [before, after]) {
      expect(nextWakeAt(queue, false)).toBe(T0 + 10_000);
      expect(expireRetention(queue, T0 + 10_000)).toBe(1);
      expect(counts(queue)).toMatchObject({ ready: 1 });
      checkInvariants(queue);
    }
  });
});

describe("the oldest message that waits", () => {
  it("is none in an empty queue", () => {
    expect(counts(queueWith()).oldestWaitingMs).toBeNull();
  });

  it("is none while all are leased", () => {
    const queue = queueOf(2);
    pull(queue, 2);
    expect(counts(queue).oldestWaitingMs).toBeNull();
  });

  it("is a retried one in front of untouched ones, and an untouched one behind leased ones", () => {
    const queue = queueWith();
    sendMany(queue, 1, T0);
    sendMany(queue, 1, T0 + 5);
    const range = firstRangeOf(pull(queue, 1, T0 + 5));
    expect(counts(queue).oldestWaitingMs).toBe(T0 + 5);
    retry(queue, range, T0 + 9, T0 + 5);
    expect(counts(queue).oldestWaitingMs).toBe(T0);
  });
});

it("the oldest message of a queue counts in whatever state it is", () => {
  const queue = queueWith();
  expect(oldestMs(queue)).toBe(Infinity);
  sendMany(queue, 1, T0);
  sendMany(queue, 1, T0 + 5);
  pull(queue, 1, T0 + 5);
  expect(oldestMs(queue)).toBe(T0);
});

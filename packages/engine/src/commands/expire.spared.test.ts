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
import { Receivers } from "../../test/receivers.ts";
import {
  acknowledge,
  counts,
  endPushLeases,
  expireLeases,
  expireRetention,
  nextBatch,
  nextWakeAt,
  type Queue,
  receive,
  retry,
  send,
  takeChanges,
} from "../index.ts";
import type { Slice } from "../segments/segment.ts";

/* Messages that the end of a retention, or of a process, leaves alone: neighbours, younger messages, leased ones. */

const retentionMs = 60_000;

function firstRange(queue: Queue, count: number, nowMs = T0) {
  const range = firstRangeOf(pull(queue, count, nowMs, nowMs + 10 * retentionMs));
  return range;
}

it("a restart does not shorten the delay of a message that waits for its next delivery, and counts none for it", () => {
  const queue = queueOf(1, { batchTimeoutMs: 0, maxRetries: 1 });
  const { leaseId, slices } = held(nextBatch(queue, T0));
  for (const slice of slices) retry(queue, { ...slice, leaseId }, T0 + 5_000, T0);
  expect(endPushLeases(queue, T0 + 1)).toEqual({ retried: [], dead: [] });
  expect(counts(queue)).toMatchObject({ ready: 0, delayed: 1 });
  expect(pull(queue, 1, T0 + 5_000).slices).toEqual([expect.objectContaining({ attempts: 2 })]);
});

it("the ends of leases, when only so many may die in one call are limited by those that die, not by those that are released or tried again", () => {
  const queue = queueOf(6, { maxRetries: 1 });
  receive(queue, { max: 1, visibleAtMs: T0 + 10 }, T0);
  receive(queue, { max: 1, visibleAtMs: T0 + 11 }, T0);
  for (const ms of [20, 21]) pull(queue, 1, T0, T0 + ms);
  const [first, second] = [pull(queue, 1, T0, T0 + 1), pull(queue, 1, T0, T0 + 2)];
  for (const range of [first, second].flatMap(rangesOf)) retry(queue, range, T0, T0);
  for (const ms of [30, 31]) pull(queue, 1, T0, T0 + ms);
  const ends = () => {
    const { retried, dead } = expireLeases(queue, T0 + 100, undefined, 1);
    checkInvariants(queue);
    return [retried.map(({ from }) => from), dead.map(({ from }) => from), counts(queue).leased];
  };
  expect(ends()).toEqual([[2, 3], [4], 1]);
  expect(ends()).toEqual([[], [5], 0]);
  expect(counts(queue).ready).toBe(4);
});

it("the ends of leases, when only so many may die in one call count no receive of a message that was received too often: it dies at the next one", () => {
  const queue = queueOf(3, { maxRetries: 0 });
  for (const ms of [10, 11, 12]) receive(queue, { max: 1, visibleAtMs: T0 + ms }, T0);
  expect(expireLeases(queue, T0 + 100, undefined, 1)).toEqual({ retried: [], dead: [] });
  expect(counts(queue)).toMatchObject({ ready: 3, leased: 0 });
});

describe("the end of a retention", () => {
  it("spares a younger message that waits behind one that is leased, and writes nothing of it", () => {
    const queue = queueWith({ retentionMs });
    sendMany(queue, 1, T0);
    sendMany(queue, 2, T0 + 1_000);
    const range = firstRange(queue, 2, T0 + 1_000);
    retry(queue, { ...range, from: 1 }, T0 + 1_000, T0 + 1_000);
    const other = sendApart(queue, 1, T0);
    takeChanges(queue);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(1);
    expect(takeChanges(queue)).toEqual([[other, "gone"]]);
    checkInvariants(queue);
    expect(expireRetention(queue, T0 + retentionMs + 1_000)).toBe(2);
    expect(counts(queue)).toMatchObject({ ready: 0, leased: 1 });
    checkInvariants(queue);
  });

  it("writes nothing of a segment whose old messages are all leased", () => {
    const queue = queueWith({ retentionMs });
    sendMany(queue, 1, T0);
    const segmentId = sendMany(queue, 1, T0 + 1_000);
    firstRange(queue, 1);
    const waiting = sendApart(queue, 1, T0);
    takeChanges(queue);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(1);
    expect(takeChanges(queue)).toEqual([[waiting, "gone"]]);
    expect(queue.segments.get(segmentId)?.remaining).toBe(2);
  });

  it("notes message by message, touched and untouched, and nothing of a segment that loses none", () => {
    const queue = queueWith({ retentionMs });
    sendMany(queue, 2, T0);
    const segmentId = sendMany(queue, 1, T0 + 1_000);
    retry(queue, firstRange(queue, 2, T0 + 1_000), T0 + 1_000, T0 + 1_000);
    const other = sendApart(queue, 3, T0);
    const noted: Slice[] = [];
    expect(expireRetention(queue, T0 + retentionMs, (expired) => noted.push(expired))).toBe(5);
    expect(noted).toEqual([
      { segmentId, from: 0, to: 2, attempts: 1 },
      { segmentId: other, from: 0, to: 3, attempts: 0 },
    ]);
  });

  it("goes by the present state of messages, also when none was asked for since they came due", () => {
    const queue = queueWith({ retentionMs });
    sendMany(queue, 2, T0, T0 + 1_000);
    sendMany(queue, 1, T0 + 500, T0 + 1_000);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(2);
    checkInvariants(queue);
    expect(pull(queue, 9, T0 + retentionMs).count).toBe(1);
  });
});

describe.each([
  ["a standard queue with groups", {}],
  ["a FIFO queue", { fifo: true }],
])("the end of a retention on %s", (_what, rules) => {
  it("lets ready, delayed and received messages go with their groups, and keeps the younger ones in order", () => {
    const queue = new Receivers({ retentionMs, ...rules });
    send(queue.queue, { sizes: [1, 1, 1], dueMs: [T0, T0, T0 + 9e6], groups: ["old", "both", "late"] }, T0);
    queue.receive(1);
    queue.nowMs += 10_000;
    queue.send("both-1", "both-2", "new-1");
    queue.nowMs = T0 + retentionMs;
    expect(expireRetention(queue.queue, queue.nowMs)).toBe(3);
    checkInvariants(queue.queue);
    expect([...(queue.queue.order?.groups.keys() ?? [])]).toEqual(["both", "new"]);
    expect(queue.receive(10)).toEqual(["both-1", "both-2", "new-1"]);
    checkInvariants(queue.queue);
  });

  it("leaves messages without a group alone beside those with one", () => {
    const queue = new Receivers({ retentionMs, ...rules });
    queue.send("a-1", "alone", "b-1");
    expect(queue.receive(10)).toEqual(["a-1", "alone", "b-1"]);
    queue.delete("alone", "a-1");
    queue.setVisibility("b-1", 0);
    queue.send("alone-too");
    queue.send("one");
    expect(expireRetention(queue.queue, T0 + 2 * retentionMs)).toBe(3);
    checkInvariants(queue.queue);
    expect(queue.queue.segments.size).toBe(0);
  });
});

describe("dead letters, whose retention counts from their send (spec sqs 6.2)", () => {
  const sendAged = (queue: Queue, ages: readonly number[]) =>
    send(queue, { sizes: ages.map(() => 1), dueMs: T0, acceptedMs: ages.map((ms) => T0 - ms) }, T0);

  it("dead letters, whose retention counts from their send are spared while a puller holds them, and when they are gone already", () => {
    const queue = queueWith({ retentionMs });
    sendAged(queue, [10_000, 40_000, 30_000, 20_000]);
    const range = firstRange(queue, 3);
    acknowledge(queue, { ...range, from: 0, to: 1 });
    retry(queue, { ...range, from: 2 }, T0, T0);
    // The second one is held, so none waits for longer than the third.
    expect(counts(queue).oldestWaitingMs).toBe(T0 - 30_000);
    expect(nextWakeAt(queue, false)).toBe(T0 + 30_000);
    expect(expireRetention(queue, T0 + 20_000)).toBe(0);
    expect(expireRetention(queue, T0 + retentionMs)).toBe(2);
    checkInvariants(queue);
    expect(counts(queue)).toMatchObject({ ready: 0, leased: 1 });
  });

  it("dead letters, whose retention counts from their send go on time though younger messages came before them, with them and after them", () => {
    const queue = queueWith({ retentionMs });
    for (const ages of [[0], [0], [0, 50_000], [0]]) {
      sendAged(queue, ages);
      queue.tails.length = 0;
    }
    expect(counts(queue).oldestWaitingMs).toBe(T0 - 50_000);
    expect(expireRetention(queue, T0 + 10_000)).toBe(1);
    expect(counts(queue)).toMatchObject({ ready: 4, oldestWaitingMs: T0 });
    checkInvariants(queue);
  });

  it("dead letters, whose retention counts from their send are found behind a younger one that is not the youngest", () => {
    const queue = queueWith({ retentionMs });
    for (const age of [5_000, 1_000, 30_000, 2_000]) {
      queue.tails.length = 0;
      sendAged(queue, [age]);
    }
    expect(counts(queue).oldestWaitingMs).toBe(T0 - 30_000);
    expect(expireRetention(queue, T0 + 30_000)).toBe(1);
    expect(expireRetention(queue, T0 + 55_000)).toBe(1);
    expect(counts(queue)).toMatchObject({ ready: 2, oldestWaitingMs: T0 - 2_000 });
  });
});

import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { pull, queueOf, queueWith, rangesOf, sendMany, T0 } from "../../test/queues.ts";
import { acknowledge, advance, counts, lease, type Queue, send, takeChanges } from "../index.ts";
import { TAIL_BYTES_MAX, TAIL_BYTES_PER_MESSAGE, TAILS_MAX } from "./send.ts";

/** Due time of every message of a segment. */
function duesOf(queue: Queue, segmentId: number): number[] {
  const segment = queue.segments.get(segmentId);
  return Array.from({ length: segment?.count ?? 0 }, (_, i) => segment?.dueOf(i) ?? 0);
}

describe("send", () => {
  it("makes messages that are due ready and the others delayed", () => {
    const queue = queueWith();
    send(queue, { sizes: [1, 2, 4], dueMs: [T0, T0 + 1, T0] }, T0);
    expect(counts(queue)).toEqual({ ready: 2, delayed: 1, leased: 0, waitingBytes: 7, oldestWaitingMs: T0 });
    checkInvariants(queue);
  });

  it("refuses to send nothing", () => {
    const what = new RangeError("nothing to send");
    expect(() => send(queueWith(), { sizes: [], dueMs: T0 }, T0)).toThrow(what);
  });

  it("keeps the order of messages that are due in the order in which they came", () => {
    expect(send(queueWith(), { sizes: [1, 2, 3], dueMs: T0 }, T0).order).toBeNull();
    expect(send(queueWith(), { sizes: [1, 2, 3], dueMs: [T0, T0, T0 + 1] }, T0).order).toBeNull();
  });

  it("puts records into the order of their due times, equal ones as they came", () => {
    const queue = queueWith();
    const dueMs = [T0 + 5, T0, T0 + 5, T0 + 1, T0];
    const placement = send(queue, { sizes: [10, 20, 30, 40, 50], dueMs }, T0);
    expect(placement.order).toEqual([1, 4, 3, 0, 2]);
    expect(duesOf(queue, placement.segmentId)).toEqual([T0, T0, T0 + 1, T0 + 5, T0 + 5]);
    const segment = queue.segments.get(placement.segmentId);
    expect([...(segment?.sizes ?? [])]).toEqual([20, 50, 40, 10, 30]);
    checkInvariants(queue);
  });

  it("numbers messages in the order in which they came, whatever order they are written in", () => {
    const queue = queueOf(1);
    const { segmentId, from } = send(queue, { sizes: [1, 1, 1], dueMs: [T0 + 2, T0 + 1, T0 + 2] }, T0);
    const segment = queue.segments.get(segmentId);
    expect([0, 1, 2].map((i) => segment?.seqOf(from + i))).toEqual([2, 1, 3]);
    expect(queue.nextSeq).toBe(4);
  });

  it("makes messages ready when their due time comes, not before", () => {
    const queue = queueWith();
    sendMany(queue, 2, T0, T0 + 1_000);
    advance(queue, T0 + 999);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 2 });
    advance(queue, T0 + 1_000);
    expect(counts(queue)).toMatchObject({ ready: 2, delayed: 0 });
    checkInvariants(queue);
  });

  it("makes a segment's messages ready due time by due time", () => {
    const queue = queueWith();
    send(queue, { sizes: [1, 1, 1, 1], dueMs: [T0, T0 + 1, T0 + 1, T0 + 2] }, T0);
    const ready = [T0, T0 + 1, T0 + 2].map((nowMs) => {
      advance(queue, nowMs);
      checkInvariants(queue);
      return counts(queue).ready;
    });
    expect(ready).toEqual([1, 3, 4]);
  });
});

describe("appending to a tail", () => {
  it("continues the segment and says where the new records begin", () => {
    const queue = queueWith();
    const first = send(queue, { sizes: [1, 2], dueMs: T0 }, T0);
    takeChanges(queue);
    const second = send(queue, { sizes: [4], dueMs: T0 + 1 }, T0 + 1);
    expect(second).toEqual({ segmentId: first.segmentId, from: 2, order: null });
    expect(takeChanges(queue)).toEqual([[first.segmentId, "appended"]]);
    expect(counts(queue)).toMatchObject({ ready: 3, waitingBytes: 7 });
    checkInvariants(queue);
  });

  it("leaves what is there created as long as it is not stored", () => {
    const queue = queueWith();
    const { segmentId } = send(queue, { sizes: [1], dueMs: T0 }, T0);
    send(queue, { sizes: [1], dueMs: T0 }, T0);
    expect(takeChanges(queue)).toEqual([[segmentId, "created"]]);
  });

  it("makes a new segment for a message that is due before the tail's last one", () => {
    const queue = queueWith();
    const delayed = sendMany(queue, 1, T0, T0 + 100);
    expect(sendMany(queue, 1, T0, T0 + 99)).not.toBe(delayed);
    expect(sendMany(queue, 1, T0, T0 + 100)).toBe(delayed);
  });

  it("chooses the tail whose last due time is the latest that is not later", () => {
    const queue = queueWith();
    const [late, middle, early] = [T0 + 300, T0 + 200, T0 + 100].map((due) => sendMany(queue, 1, T0, due));
    expect(queue.tails.map((tail) => tail.id)).toEqual([late, middle, early]);
    expect(sendMany(queue, 1, T0, T0 + 250)).toBe(middle);
    expect(sendMany(queue, 1, T0, T0 + 199)).toBe(early);
    expect(sendMany(queue, 1, T0, T0 + 999)).toBe(late);
  });

  it("chooses it though it was made after the others", () => {
    const queue = queueWith();
    const [, , early] = [300, 200, 100].map((delay) => sendMany(queue, 1, T0, T0 + delay));
    expect(send(queue, { sizes: [1, 1], dueMs: [T0 + 100, T0 + 900] }, T0).segmentId).toBe(early);
    expect(sendMany(queue, 1, T0, T0 + 950)).toBe(early);
    checkInvariants(queue);
  });

  it("keeps messages with groups and those without apart, and no groups where there are none", () => {
    const queue = queueWith();
    const plain = sendMany(queue, 1);
    expect(queue.segments.get(plain)?.groups).toBeNull();
    expect(queue.order).toBeNull();
    const { segmentId } = send(queue, { sizes: [1], dueMs: T0, groups: ["a"] }, T0);
    expect(segmentId).not.toBe(plain);
    expect(sendMany(queue, 1)).toBe(plain);
    checkInvariants(queue);
  });

  it("looks at the earliest message of a batch with several delays", () => {
    const queue = queueWith();
    const tail = sendMany(queue, 1, T0, T0 + 100);
    const dueMs = [T0 + 500, T0 + 99];
    expect(send(queue, { sizes: [1, 1], dueMs }, T0).segmentId).not.toBe(tail);
  });

  it.each([
    [TAIL_BYTES_MAX - 1, true],
    [TAIL_BYTES_MAX, false],
    [TAIL_BYTES_MAX + 1, false],
  ])("goes on in a segment of %i bytes: %s", (bytes, goesOn) => {
    const queue = queueWith();
    const bodies = bytes - 2 * TAIL_BYTES_PER_MESSAGE;
    const { segmentId } = send(queue, { sizes: [bodies - 1, 1], dueMs: T0 }, T0);
    expect(queue.tails.some((tail) => tail.id === segmentId)).toBe(goesOn);
    expect(sendMany(queue, 1) === segmentId).toBe(goesOn);
  });

  it("counts what messages without bodies take", () => {
    const queue = queueWith();
    const count = Math.floor(TAIL_BYTES_MAX / TAIL_BYTES_PER_MESSAGE);
    const sizes = Array<number>(count).fill(0);
    const { segmentId } = send(queue, { sizes, dueMs: T0 }, T0);
    expect(send(queue, { sizes: [0], dueMs: T0 }, T0).segmentId).toBe(segmentId);
    expect(send(queue, { sizes: [0], dueMs: T0 }, T0).segmentId).not.toBe(segmentId);
  });

  it("closes a tail that an append has filled", () => {
    const queue = queueWith();
    const first = send(queue, { sizes: [1], dueMs: T0 }, T0).segmentId;
    expect(
      send(queue, { sizes: [TAIL_BYTES_MAX - 2 * TAIL_BYTES_PER_MESSAGE - 1], dueMs: T0 }, T0).segmentId,
    ).toBe(first);
    expect(queue.tails).toEqual([]);
    expect(sendMany(queue, 1)).not.toBe(first);
  });

  it("leaves other tails open when it closes one", () => {
    const queue = queueWith();
    const ids = [300, 200, 100].map((delay) => sendMany(queue, 1, T0, T0 + delay));
    send(queue, { sizes: [TAIL_BYTES_MAX], dueMs: T0 + 200 }, T0);
    expect(queue.tails.map((tail) => tail.id)).toEqual([ids[0], ids[2]]);
    for (const range of rangesOf(pull(queue, 1, T0 + 100))) acknowledge(queue, range);
    expect(queue.tails.map((tail) => tail.id)).toEqual([ids[0]]);
  });

  it("lets a tail go with its last message, and no other", () => {
    const queue = queueWith();
    const ids = [300, 200, 100].map((delay) => sendMany(queue, 1, T0, T0 + delay));
    const [first, second] = rangesOf(pull(queue, 2, T0 + 200));
    if (first === undefined || second === undefined) throw new Error("two were leased");
    acknowledge(queue, second);
    expect(queue.tails.map((tail) => tail.id)).toEqual([ids[0], ids[2]]);
  });

  it.each([
    [TAILS_MAX - 1, true],
    [TAILS_MAX, true],
    [TAILS_MAX + 1, false],
  ])("keeps the oldest of %i tails open: %s", (count, open) => {
    const queue = queueWith();
    const ids = Array.from({ length: count }, (_, i) => sendMany(queue, 1, T0, T0 + 1_000 - i));
    expect(queue.tails.some((tail) => tail.id === ids[0])).toBe(open);
    expect(queue.tails.map((tail) => tail.id)).toEqual(ids.slice(-TAILS_MAX));
    checkInvariants(queue);
  });

  it("does not go on in a segment that is gone", () => {
    const queue = queueWith();
    const first = sendMany(queue, 1);
    for (const range of rangesOf(pull(queue, 1))) acknowledge(queue, range);
    expect(queue.tails).toEqual([]);
    expect(sendMany(queue, 1)).not.toBe(first);
    checkInvariants(queue);
  });

  it("keeps messages apart from touched ones of the same segment", () => {
    const queue = queueOf(2);
    const batch = pull(queue, 2);
    sendMany(queue, 1, T0 + 1);
    checkInvariants(queue);
    expect(lease(queue, { max: 9, expiresMs: T0 + 9, kind: "pull" }, T0 + 1)?.slices).toEqual([
      { segmentId: batch.slices[0]?.segmentId, from: 2, to: 3, attempts: 1 },
    ]);
  });
});

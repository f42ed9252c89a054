import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import {
  firstRangeOf,
  pull,
  queueOf,
  queueWith,
  rangesOf,
  sendApart,
  sendMany,
  seqsOf,
  T0,
} from "../../test/queues.ts";
import { acknowledge, counts, type Lease, lease, type Queue, retry, send } from "../index.ts";

function failAll(queue: Queue, batch: Lease, dueMs: number, nowMs = T0): void {
  for (const range of rangesOf(batch)) retry(queue, range, dueMs, nowMs);
}

describe("lease", () => {
  it("leases nothing of an empty queue, and gives no lease id for it", () => {
    const queue = queueWith();
    const nextLeaseId = queue.nextLeaseId;
    expect(lease(queue, { max: 10, expiresMs: T0 + 1, kind: "pull" }, T0)).toBeNull();
    expect(queue.nextLeaseId).toBe(nextLeaseId);
  });

  it("counts the messages that it has delivered", () => {
    const queue = queueOf(5);
    pull(queue, 2);
    pull(queue, 9);
    expect(queue.deliveries).toBe(5);
  });

  it("leases nothing that is not due", () => {
    const queue = queueWith();
    sendMany(queue, 1, T0, T0 + 1);
    expect(lease(queue, { max: 10, expiresMs: T0 + 9, kind: "pull" }, T0)).toBeNull();
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 1, leased: 0 });
  });

  it("makes messages ready that have come due meanwhile", () => {
    const queue = queueWith();
    sendMany(queue, 1, T0, T0 + 1);
    expect(pull(queue, 1, T0 + 1).count).toBe(1);
  });

  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 3],
  ])("asked for %i of three messages, leases %i", (max, leased) => {
    const queue = queueWith();
    send(queue, { sizes: [1, 2, 4], dueMs: T0 }, T0);
    const batch = pull(queue, max);
    expect(batch.count).toBe(leased);
    expect(batch.bytes).toBe([0, 1, 3, 7][leased]);
    expect(seqsOf(queue, batch.slices)).toEqual([0, 1, 2].slice(0, leased));
    expect(counts(queue)).toMatchObject({ ready: 3 - leased, leased, waitingBytes: 7 - batch.bytes });
    checkInvariants(queue);
  });

  it("counts the bytes of what is left of a segment", () => {
    const queue = queueWith();
    send(queue, { sizes: [1, 5, 1, 1, 9], dueMs: T0 }, T0);
    expect(pull(queue, 1).count).toBe(1);
    const batch = lease(queue, { max: 10, expiresMs: T0 + 1, kind: "pull", bytesMax: 7 }, T0);
    expect([batch?.count, batch?.bytes]).toEqual([3, 7]);
  });

  it.each([
    [7, 3],
    [8, 4],
    [9, 4],
    [5, 2],
    [4, 2],
    [3, 1],
    [1, 1],
    [0, 1],
  ])("lease with room for %i bytes of messages of 2 leases %i, but always one", (bytesMax, count) => {
    for (const isTouched of [false, true]) {
      const queue = queueWith();
      send(queue, { sizes: [2, 2, 2, 2], dueMs: T0 }, T0);
      if (isTouched) failAll(queue, pull(queue, 4), T0);
      const request = { max: 4, expiresMs: T0 + 1, kind: "pull" as const, bytesMax };
      expect([isTouched, lease(queue, request, T0)?.count]).toEqual([isTouched, count]);
      checkInvariants(queue);
    }
  });

  it.each([
    [9, 4, 9],
    [9, 3, 8],
    [8, 4, 8],
    [7, 4, 5],
    [9, 2, 5],
  ])("counts each message's own bytes: with room for %i bytes, asked for %i", (bytesMax, max, bytes) => {
    const queue = queueWith();
    send(queue, { sizes: [4, 1, 3, 1, 1], dueMs: T0 }, T0);
    const request = { max, expiresMs: T0 + 1, kind: "pull" as const, bytesMax };
    expect(lease(queue, request, T0)?.bytes).toBe(bytes);
    checkInvariants(queue);
  });

  it("lets no message pass a larger one that has no room", () => {
    for (const groups of [undefined, ["a", "a", "b", "b"]]) {
      const queue = queueWith({ fifo: groups !== undefined });
      send(queue, { sizes: [2, 9, 1, 1], dueMs: T0, ...(groups === undefined ? {} : { groups }) }, T0);
      const request = { max: 4, expiresMs: T0 + 1, kind: "pull" as const, bytesMax: 5 };
      expect(lease(queue, request, T0)).toMatchObject({ count: 1, bytes: 2 });
      checkInvariants(queue);
    }
  });

  it("gives every lease an id of its own, above those of earlier epochs", () => {
    const queue = queueOf(2, {}, 3);
    const [first, second] = [pull(queue, 1), pull(queue, 1)];
    expect(first.leaseId).toBeGreaterThan(3 * 2 ** 32);
    expect(second.leaseId).toBe(first.leaseId + 1);
  });

  it("keeps who holds it, until when, and on which attempt", () => {
    const queue = queueWith();
    const segmentId = sendMany(queue, 1);
    const batch = pull(queue, 1, T0, T0 + 77);
    expect(batch).toMatchObject({ expiresMs: T0 + 77, slices: [{ segmentId, from: 0, to: 1, attempts: 1 }] });
    const [entry] = queue.segments.get(segmentId)?.entries ?? [];
    expect(entry).toMatchObject({ leaseId: batch.leaseId, leaseKind: "pull", atMs: T0 + 77, attempts: 1 });
  });
});

describe("the order of leaving", () => {
  it("is that of due times, across segments", () => {
    const queue = queueWith();
    const ids = [30, 10, 20].map((due) => sendApart(queue, 1, T0, T0 + due));
    const batch = pull(queue, 3, T0 + 99);
    expect(batch.slices.map((slice) => slice.segmentId)).toEqual([ids[1], ids[2], ids[0]]);
  });

  it("is that of sending among messages that are due at the same time", () => {
    const queue = queueWith();
    const delayed = sendApart(queue, 1, T0, T0 + 50);
    const prompt = sendApart(queue, 1, T0 + 50);
    expect(pull(queue, 2, T0 + 50).slices.map((slice) => slice.segmentId)).toEqual([delayed, prompt]);
  });

  it("mixes the messages of two segments by due time, run by run", () => {
    const queue = queueWith();
    sendApart(queue, 1);
    queue.tails.length = 0;
    const interleaved = [
      send(queue, { sizes: [1, 1, 1], dueMs: [T0 + 10, T0 + 30, T0 + 30] }, T0).segmentId,
      sendApart(queue, 2, T0, T0 + 20),
    ];
    pull(queue, 1);
    const batch = pull(queue, 5, T0 + 99);
    expect(batch.slices).toEqual([
      { segmentId: interleaved[0], from: 0, to: 1, attempts: 1 },
      { segmentId: interleaved[1], from: 0, to: 2, attempts: 1 },
      { segmentId: interleaved[0], from: 1, to: 3, attempts: 1 },
    ]);
    checkInvariants(queue);
  });

  it("puts a retried message where its new due time is", () => {
    const queue = queueWith();
    sendApart(queue, 1);
    const retried = pull(queue, 1);
    const [before, after] = [sendApart(queue, 1, T0, T0 + 4), sendApart(queue, 1, T0, T0 + 6)];
    failAll(queue, retried, T0 + 5);
    expect(pull(queue, 3, T0 + 9).slices.map((slice) => slice.segmentId)).toEqual([
      before,
      retried.slices[0]?.segmentId,
      after,
    ]);
  });
});

describe("partial stretches", () => {
  it("leases no more than what is wanted of the last of several segments", () => {
    const queue = queueWith();
    const [first, second] = [sendApart(queue, 2), sendApart(queue, 3)];
    expect(pull(queue, 3).slices.map(({ segmentId, from, to }) => [segmentId, from, to])).toEqual([
      [first, 0, 2],
      [second, 0, 1],
    ]);
    failAll(queue, pull(queue, 1), T0);
    expect(pull(queue, 9).count).toBe(2);
  });

  it("leases the front of a retried stretch and leaves the rest ready", () => {
    const queue = queueWith();
    send(queue, { sizes: [1, 2, 4, 8], dueMs: T0 }, T0);
    failAll(queue, pull(queue, 4), T0);
    const batch = pull(queue, 3);
    expect(batch.slices).toEqual([expect.objectContaining({ from: 0, to: 3, attempts: 2 })]);
    expect(batch.bytes).toBe(7);
    expect(counts(queue)).toMatchObject({ ready: 1, leased: 3, waitingBytes: 8 });
    checkInvariants(queue);
    expect(pull(queue, 9).slices).toEqual([expect.objectContaining({ from: 3, to: 4, attempts: 2 })]);
  });

  it("leaves the rest of a retried stretch at its due time", () => {
    const queue = queueWith();
    const retried = sendApart(queue, 2);
    failAll(queue, pull(queue, 2), T0 + 1, T0 + 1);
    pull(queue, 1, T0 + 9);
    const [earlier, later] = [sendApart(queue, 1, T0 + 9, T0), sendApart(queue, 1, T0 + 9, T0 + 2)];
    expect(pull(queue, 3, T0 + 9).slices.map((slice) => slice.segmentId)).toEqual([earlier, retried, later]);
  });

  it("takes a stretch whole that is just as long as what is wanted", () => {
    const queue = queueOf(3);
    failAll(queue, pull(queue, 3), T0);
    pull(queue, 3);
    const [segment] = queue.segments.values();
    expect(segment?.entries).toHaveLength(1);
  });
});

describe("joining", () => {
  /** Entries of the only segment, as [from, to). */
  function entriesOf(queue: Queue): [number, number][] {
    const [segment] = queue.segments.values();
    return segment?.entries.map((entry) => [entry.from, entry.to]) ?? [];
  }

  it("makes one slice and one entry of neighbours with different due times", () => {
    const queue = queueWith();
    for (const due of [0, 1, 2]) sendMany(queue, 1, T0, T0 + due);
    const batch = pull(queue, 3, T0 + 2);
    expect(batch.slices).toEqual([expect.objectContaining({ from: 0, to: 3, attempts: 1 })]);
    expect(entriesOf(queue)).toEqual([[0, 3]]);
    expect(counts(queue).leased).toBe(3);
    checkInvariants(queue);
  });

  it("keeps two leases apart", () => {
    const queue = queueOf(4);
    pull(queue, 2);
    pull(queue, 2);
    expect(entriesOf(queue)).toEqual([
      [0, 2],
      [2, 4],
    ]);
  });

  it("keeps attempts apart, in the slices too", () => {
    const queue = queueOf(4);
    failAll(queue, pull(queue, 2), T0);
    const batch = pull(queue, 4);
    expect(batch.slices.map(({ from, to, attempts }) => [from, to, attempts])).toEqual([
      [0, 2, 2],
      [2, 4, 1],
    ]);
    expect(entriesOf(queue)).toEqual([
      [0, 2],
      [2, 4],
    ]);
  });

  it("keeps stretches apart between which a message is gone or waits", () => {
    const queue = queueOf(3);
    const range = firstRangeOf(pull(queue, 3));
    acknowledge(queue, { ...range, from: 1, to: 2 });
    retry(queue, range, T0, T0);
    const batch = pull(queue, 2);
    expect(batch.slices.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(entriesOf(queue)).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });

  it("joins what a retry had split", () => {
    const queue = queueOf(3);
    const range = firstRangeOf(pull(queue, 3));
    for (const i of [0, 1, 2]) retry(queue, { ...range, from: i, to: i + 1 }, T0, T0);
    expect(entriesOf(queue)).toHaveLength(3);
    expect(pull(queue, 3).slices).toHaveLength(1);
    expect(entriesOf(queue)).toEqual([[0, 3]]);
    checkInvariants(queue);
  });

  it("keeps neighbours apart that were not sent one after the other: a retry must not change the order", () => {
    const queue = queueWith();
    send(queue, { sizes: [1, 1], dueMs: [T0 + 1, T0] }, T0);
    const batch = pull(queue, 2, T0 + 1);
    expect(batch.slices.map(({ from, to }) => [from, to])).toEqual([[0, 2]]);
    expect(entriesOf(queue)).toEqual([
      [0, 1],
      [1, 2],
    ]);
    checkInvariants(queue);
  });

  it("leases stretches in the order of their due times though they lie the other way round", () => {
    const queue = queueOf(2);
    const range = firstRangeOf(pull(queue, 2));
    retry(queue, { ...range, from: 0, to: 1 }, T0 + 2, T0);
    retry(queue, { ...range, from: 1, to: 2 }, T0 + 1, T0);
    const batch = pull(queue, 2, T0 + 2);
    expect(batch.slices.map(({ from, to }) => [from, to])).toEqual([
      [1, 2],
      [0, 1],
    ]);
    checkInvariants(queue);
  });
});

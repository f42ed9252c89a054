import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import {
  firstRangeOf,
  pull,
  queueOf,
  queueWith,
  rangesOf,
  sendApart,
  seqsOf,
  T0,
} from "../../test/queues.ts";
import {
  acknowledge,
  counts,
  giveUp,
  lease,
  type Queue,
  release,
  retry,
  type Slice,
  send,
} from "../index.ts";

/** A queue with five messages, all of them leased, and the range that names them. */
function leasedFive(rules?: Parameters<typeof queueWith>[0]) {
  const queue = queueWith(rules);
  sendApart(queue, 5);
  return { queue, range: firstRangeOf(pull(queue, 5)) };
}

/** Leased stretches of the only segment, as [from, to) with the lease that holds them. */
function stretches(queue: Queue): [from: number, to: number, state: string][] {
  const [segment] = queue.segments.values();
  return segment?.entries.map(({ from, to, state }) => [from, to, state]) ?? [];
}

describe("acknowledge", () => {
  it("lets all messages of a lease go, and their segment with the last one", () => {
    const { queue, range } = leasedFive();
    expect(acknowledge(queue, range)).toBe(5);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 0, leased: 0, waitingBytes: 0 });
    expect(queue.segments.size).toBe(0);
    checkInvariants(queue);
  });

  it.each([
    [0, 1, [[1, 5, "leased"]]],
    [0, 4, [[4, 5, "leased"]]],
    [1, 5, [[0, 1, "leased"]]],
    [4, 5, [[0, 4, "leased"]]],
    [
      2,
      3,
      [
        [0, 2, "leased"],
        [3, 5, "leased"],
      ],
    ],
  ])("takes messages [%i, %i) out of a stretch of five and leaves the rest leased", (from, to, left) => {
    const { queue, range } = leasedFive();
    expect(acknowledge(queue, { ...range, from, to })).toBe(to - from);
    expect(stretches(queue)).toEqual(left);
    expect(counts(queue).leased).toBe(5 - (to - from));
    checkInvariants(queue);
  });

  it("keeps the expiry of what it leaves", () => {
    const { queue, range } = leasedFive();
    acknowledge(queue, { ...range, from: 2, to: 3 });
    const [segment] = queue.segments.values();
    expect(segment?.entries.map((entry) => entry.atMs)).toEqual([T0 + 30_000, T0 + 30_000]);
  });

  it("goes over stretches that were settled before", () => {
    const { queue, range } = leasedFive();
    acknowledge(queue, { ...range, from: 2, to: 3 });
    const gone: Slice[] = [];
    expect(acknowledge(queue, { ...range, from: 1, to: 4 }, gone)).toBe(2);
    expect(gone.map(({ from, to }) => [from, to])).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(stretches(queue)).toEqual([
      [0, 1, "leased"],
      [4, 5, "leased"],
    ]);
    expect(acknowledge(queue, range)).toBe(2);
    expect(queue.segments.size).toBe(0);
  });

  it("knows nothing of messages that are gone", () => {
    const { queue, range } = leasedFive();
    acknowledge(queue, range);
    expect(acknowledge(queue, range)).toBe(0);
    checkInvariants(queue);
  });

  it("leaves messages alone that another lease holds by now: the lease id fences", () => {
    const { queue, range: stale } = leasedFive();
    retry(queue, stale, T0, T0);
    const [fresh] = rangesOf(pull(queue, 5));
    expect(acknowledge(queue, stale)).toBe(0);
    expect(counts(queue).leased).toBe(5);
    expect(acknowledge(queue, { ...stale, ...fresh })).toBe(5);
  });

  it("leaves messages alone that wait again after their lease has ended", () => {
    const { queue, range: stale } = leasedFive();
    retry(queue, stale, T0, T0);
    expect(acknowledge(queue, stale)).toBe(0);
    expect(counts(queue)).toMatchObject({ ready: 5, leased: 0 });
  });

  it("takes only the stretches of its own lease out of a range with several", () => {
    const queue = queueWith();
    sendApart(queue, 4);
    const first = pull(queue, 2);
    const second = pull(queue, 2);
    const range = firstRangeOf(second);
    expect(acknowledge(queue, { ...range, from: 0, to: 4 })).toBe(2);
    expect(stretches(queue)).toEqual([[0, 2, "leased"]]);
    expect(rangesOf(first).map((mine) => acknowledge(queue, mine))).toEqual([2]);
  });
});

it("giveUp lets messages die whatever attempts are left, and says which", () => {
  const { queue, range } = leasedFive({ maxRetries: 10 });
  const { segmentId } = range;
  expect(giveUp(queue, { ...range, from: 1, to: 3 })).toEqual([{ segmentId, from: 1, to: 3, attempts: 1 }]);
  expect(counts(queue)).toMatchObject({ ready: 0, delayed: 0, leased: 3 });
  checkInvariants(queue);
  expect(giveUp(queue, { ...range, leaseId: range.leaseId + 1 })).toEqual([]);
  expect(giveUp(queue, range).map(({ from, to }) => [from, to])).toEqual([
    [0, 1],
    [3, 5],
  ]);
  expect(queue.segments.size).toBe(0);
  checkInvariants(queue);
});

describe("retry", () => {
  it("makes messages ready at once without a delay", () => {
    const { queue, range } = leasedFive();
    const { retried, dead } = retry(queue, range, T0, T0);
    expect(retried).toEqual([{ segmentId: range.segmentId, from: 0, to: 5, attempts: 1 }]);
    expect(dead).toEqual([]);
    expect(counts(queue)).toMatchObject({ ready: 5, delayed: 0, leased: 0, waitingBytes: 50 });
    checkInvariants(queue);
  });

  it("keeps messages back until their delay is over", () => {
    const { queue, range } = leasedFive();
    retry(queue, range, T0 + 1_000, T0);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 5, leased: 0, waitingBytes: 50 });
    expect(lease(queue, { max: 5, expiresMs: T0 + 9_000, kind: "pull" }, T0 + 999)).toBeNull();
    expect(pull(queue, 5, T0 + 1_000).count).toBe(5);
  });

  it("retries a part and leaves the rest leased", () => {
    const { queue, range } = leasedFive();
    retry(queue, { ...range, from: 1, to: 3 }, T0, T0);
    expect(stretches(queue)).toEqual([
      [0, 1, "leased"],
      [1, 3, "ready"],
      [3, 5, "leased"],
    ]);
    checkInvariants(queue);
  });

  it("puts retried messages behind those that were due before them", () => {
    const queue = queueWith();
    const first = sendApart(queue, 1);
    const second = sendApart(queue, 1, T0 + 5);
    const range = firstRangeOf(pull(queue, 1, T0 + 10));
    retry(queue, range, T0 + 10, T0 + 10);
    expect(pull(queue, 2, T0 + 10).slices.map((slice) => slice.segmentId)).toEqual([second, first]);
  });

  it.each([0, 1, 3])(
    "delivers max_retries + 1 times with max_retries = %i, then the message is dead",
    (max) => {
      const queue = queueOf(1, { maxRetries: max });
      for (let attempt = 1; attempt <= max; attempt++) {
        const range = firstRangeOf(pull(queue, 1));
        expect(retry(queue, range, T0, T0)).toEqual({
          retried: [expect.objectContaining({ attempts: attempt })],
          dead: [],
        });
      }
      const last = firstRangeOf(pull(queue, 1));
      expect(retry(queue, last, T0, T0)).toEqual({
        retried: [],
        dead: [{ segmentId: last.segmentId, from: 0, to: 1, attempts: max + 1 }],
      });
      expect(queue.segments.size).toBe(0);
      checkInvariants(queue);
    },
  );

  it("does nothing for a lease that has ended", () => {
    const { queue, range } = leasedFive({ maxRetries: 0 });
    release(queue, range, T0, T0);
    expect(retry(queue, range, T0, T0)).toEqual({ retried: [], dead: [] });
    expect(counts(queue).ready).toBe(5);
  });
});

describe("release", () => {
  it("takes the attempt back", () => {
    const { queue, range } = leasedFive();
    release(queue, range, T0, T0);
    expect(pull(queue, 5).slices).toEqual([expect.objectContaining({ attempts: 1 })]);
  });

  it("puts messages that were never delivered back to their place in the order", () => {
    const queue = queueWith();
    const first = sendApart(queue, 1);
    const second = sendApart(queue, 1, T0 + 5);
    const range = firstRangeOf(pull(queue, 1, T0 + 10));
    release(queue, range, T0 + 99, T0 + 10);
    expect(counts(queue).ready).toBe(2);
    expect(pull(queue, 2, T0 + 10).slices.map((slice) => slice.segmentId)).toEqual([first, second]);
  });

  it("puts each message of a stretch back to its own place, though they were leased as one", () => {
    const queue = queueWith();
    const { segmentId: early } = send(queue, { sizes: [10], dueMs: T0 }, T0);
    send(queue, { sizes: [10], dueMs: T0 + 20 }, T0);
    const between = sendApart(queue, 1, T0, T0 + 10);
    const batch = pull(queue, 3, T0 + 20);
    expect(batch.slices.map((slice) => slice.segmentId)).toEqual([early, between, early]);
    for (const range of rangesOf(batch)) release(queue, range, T0 + 99, T0 + 20);
    const again = pull(queue, 3, T0 + 20);
    expect(seqsOf(queue, again.slices)).toEqual(seqsOf(queue, batch.slices));
    checkInvariants(queue);
  });

  it("splits what was leased as one by the due times of its messages", () => {
    const queue = queueWith();
    send(queue, { sizes: [10], dueMs: T0 }, T0);
    send(queue, { sizes: [10, 10], dueMs: T0 + 20 }, T0);
    const range = firstRangeOf(pull(queue, 3, T0 + 20));
    expect(range).toMatchObject({ from: 0, to: 3 });
    release(queue, range, T0 + 99, T0 + 20);
    const between = sendApart(queue, 1, T0 + 20, T0 + 10);
    expect(pull(queue, 4, T0 + 20).slices).toEqual([
      expect.objectContaining({ from: 0, to: 1 }),
      expect.objectContaining({ segmentId: between }),
      expect.objectContaining({ from: 1, to: 3 }),
    ]);
  });

  it("offers messages that had been delivered before at the given time", () => {
    const { queue, range } = leasedFive();
    retry(queue, range, T0, T0);
    release(queue, firstRangeOf(pull(queue, 5)), T0 + 100, T0);
    expect(counts(queue)).toMatchObject({ ready: 0, delayed: 5 });
    expect(pull(queue, 5, T0 + 100).slices).toEqual([expect.objectContaining({ attempts: 2 })]);
  });

  it("does nothing for a lease that has ended", () => {
    const { queue, range } = leasedFive();
    retry(queue, range, T0, T0);
    const fresh = pull(queue, 5);
    release(queue, range, T0, T0);
    expect(counts(queue).leased).toBe(5);
    expect(fresh.slices).toEqual([expect.objectContaining({ attempts: 2 })]);
  });
});

it("dead letters that go back to their place are one stretch again, though each has its own age", () => {
  const queue = queueWith();
  const { segmentId } = send(
    queue,
    { sizes: [1, 1, 1], dueMs: T0, acceptedMs: [T0 - 3, T0 - 2, T0 - 1] },
    T0,
  );
  for (const range of rangesOf(pull(queue, 3))) release(queue, range, T0, T0);
  expect(queue.segments.get(segmentId)?.entries).toMatchObject([{ from: 0, to: 3, atMs: T0 }]);
  checkInvariants(queue);
});

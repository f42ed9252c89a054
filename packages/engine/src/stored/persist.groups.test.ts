import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { pull, queueOf, queueWith, rowsOf, T0 } from "../../test/queues.ts";
import {
  advance,
  changeVisibility,
  counts,
  deleteReceived,
  expireLeases,
  factsOf,
  type Queue,
  type QueueRules,
  receive,
  restoreSegment,
  send,
} from "../index.ts";

/** The queue after a restart. */
function again(queue: Queue, nowMs: number, rules: Partial<QueueRules> = queue.rules): Queue {
  const other = queueWith(rules, 2);
  for (const { id, index, state } of rowsOf(queue)) restoreSegment(other, id, index, state, nowMs);
  advance(other, nowMs);
  checkInvariants(other);
  return other;
}

describe("a restored queue with groups", () => {
  /** Messages of three groups in three segments: some in flight, some gone, one released, some delayed. */
  function groupedQueue(rules: Partial<QueueRules>): Queue {
    const queue = queueWith({ maxRetries: Infinity, ...rules });
    const sizes = [1, 2, 4, 8, 16, 32];
    const dueMs = [T0, T0, T0, T0, T0, T0 + 50_000];
    send(queue, { sizes, dueMs, groups: ["a", "b", "a", null, "c", "b"] }, T0);
    queue.tails.length = 0;
    send(queue, { sizes: [64, 128], dueMs: T0 + 1, groups: ["b", "d"] }, T0 + 1);
    queue.tails.length = 0;
    const batch = receive(queue, { max: 5, visibleAtMs: T0 + 30_000 }, T0 + 2).lease;
    const receipts = (batch?.slices ?? []).flatMap(({ segmentId, from, to }) =>
      Array.from({ length: to - from }, (_, i) => ({
        segmentId,
        index: from + i,
        leaseId: batch?.leaseId ?? 0,
      })),
    );
    const [first, second] = receipts;
    if (first === undefined || second === undefined) throw new Error("five were received");
    deleteReceived(queue, first, T0 + 3);
    changeVisibility(queue, second, { visibleAtMs: T0 + 3, receivedMs: T0 + 2 }, T0 + 3);
    checkInvariants(queue);
    return queue;
  }

  describe.each([
    ["a standard queue", {}],
    ["a FIFO queue", { fifo: true }],
  ])("%s", (_what, rules) => {
    it("has every message where it was, and stores the same again", () => {
      const queue = groupedQueue(rules);
      const restoredQueue = again(queue, T0 + 3);
      expect(counts(restoredQueue)).toEqual(counts(queue));
      expect(rowsOf(restoredQueue)).toEqual(rowsOf(queue));
    });

    it("gives the same messages as it would have, now and when those in flight are visible again", () => {
      const [queue, restoredQueue] = [groupedQueue(rules), again(groupedQueue(rules), T0 + 3)];
      for (const nowMs of [T0 + 4, T0 + 40_000, T0 + 60_000, T0 + 100_000]) {
        const [expected, actual] = [queue, restoredQueue].map((one) => {
          expireLeases(one, nowMs);
          return receive(one, { max: 100, visibleAtMs: nowMs + 30_000 }, nowMs).lease?.slices;
        });
        expect(actual).toEqual(expected);
        checkInvariants(restoredQueue);
      }
    });

    it("knows when its messages were received first, and by which receipt they are held", () => {
      const queue = groupedQueue(rules);
      const restoredQueue = again(queue, T0 + 3);
      const [entry] = [...queue.segments.values()].flatMap(({ entries }) =>
        entries.filter(({ state }) => state === "leased"),
      );
      if (entry === undefined) throw new Error("three are in flight");
      const receipt = { segmentId: entry.segment.id, index: entry.from, leaseId: entry.leaseId };
      const facts = { receives: 1, firstReceivedMs: T0 + 2, visibleAtMs: T0 + 30_000 };
      expect(factsOf(restoredQueue, receipt)).toMatchObject(facts);
      expect(deleteReceived(restoredQueue, receipt, T0 + 3)).toBe("deleted");
    });
  });

  it("stores the name of each group once", () => {
    const bytesFor = (...groups: string[]) => {
      const queue = queueWith();
      send(queue, { sizes: groups.map(() => 1), dueMs: T0, groups }, T0);
      return rowsOf(queue)[0]?.index.length ?? 0;
    };
    expect(bytesFor("tenant", "tenant", "tenant", "x")).toBe(bytesFor("tenant", "x", "x", "x"));
  });

  it("has one group for all messages that were sent before it became a FIFO queue", () => {
    const queue = queueOf(3);
    pull(queue, 1);
    const fifo = again(queue, T0, { fifo: true });
    expect(receive(fifo, { max: 10, visibleAtMs: T0 + 1 }, T0).lease).toBeNull();
    expireLeases(fifo, T0 + 30_000);
    const { lease } = receive(fifo, { max: 10, visibleAtMs: T0 + 60_000 }, T0 + 30_000);
    expect(lease?.slices.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 3],
    ]);
  });

  it("keeps its groups though it is no FIFO queue any more", () => {
    const queue = queueWith({ fifo: true });
    send(queue, { sizes: [1, 1], dueMs: T0, groups: ["a", "a"] }, T0);
    const standard = again(queue, T0, { fifo: false });
    expect([...(standard.order?.groups.keys() ?? [])]).toEqual(["a"]);
    expect([pull(standard, 1).count, pull(standard, 1).count]).toEqual([1, 1]);
  });
});

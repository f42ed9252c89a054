import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { pull } from "../../test/queues.ts";
import { Receivers } from "../../test/receivers.ts";
import { counts, expireRetention, factsOf, nextWakeAt, receive } from "../index.ts";

const standard = (rules = {}) => new Receivers(rules);

describe("a receive on a standard queue (spec sqs 3)", () => {
  it("counts receives and remembers the first one", () => {
    const queue = standard();
    queue.send("m");
    const firstMs = queue.nowMs;
    queue.receive(1, 0);
    queue.nowMs += 5_000;
    queue.receive(1, 1_000);
    const facts = { receives: 2, firstReceivedMs: firstMs, visibleAtMs: queue.nowMs + 1_000 };
    expect(factsOf(queue.queue, queue.receiptOf("m"))).toMatchObject(facts);
  });

  it("counts as the first one though the message was pulled before, which is none", () => {
    const queue = standard();
    queue.send("m");
    pull(queue.queue, 1, queue.nowMs, queue.nowMs + 1);
    queue.nowMs += 5_000;
    queue.receive(1);
    const facts = { receives: 2, firstReceivedMs: queue.nowMs };
    expect(factsOf(queue.queue, queue.receiptOf("m"))).toMatchObject(facts);
  });

  it("remembers the first receive of each message, of neighbours that were received together later too", () => {
    const queue = standard();
    queue.send("m", "n");
    queue.receive(1, 1_000);
    const firstMs = queue.nowMs;
    queue.nowMs += 500;
    expect(queue.receive(1, 500)).toEqual(["n"]);
    queue.nowMs += 500;
    expect(queue.receive(2)).toEqual(["m", "n"]);
    const first = (name: string) => factsOf(queue.queue, queue.receiptOf(name))?.firstReceivedMs;
    expect([first("m"), first("n")]).toEqual([firstMs, firstMs + 500]);
  });

  it("gives an expired message in its old place, before what was sent meanwhile", () => {
    const queue = standard();
    queue.send("first");
    queue.receive(1, 1_000);
    queue.send("second");
    queue.nowMs += 1_000;
    expect(queue.receive(10)).toEqual(["first", "second"]);
  });

  it("a receive on a standard queue with a timeout of 0 counts, and leaves the message visible", () => {
    const queue = standard();
    queue.send("m");
    expect(queue.receive(10, 0)).toEqual(["m"]);
    expect(counts(queue.queue)).toMatchObject({ ready: 1, leased: 0 });
  });

  it.each([0, 1_000])(
    "gives nothing of an empty queue, with a timeout of %i ms, and moves nothing",
    (forMs) => {
      const { queue, nowMs } = standard();
      expect(receive(queue, { max: 10, visibleAtMs: nowMs + forMs }, nowMs)).toEqual({
        lease: null,
        dead: [],
        deadRoom: Infinity,
      });
    },
  );

  // A message of the tests has one byte, and 100 are what else it takes.
  it.each([
    [0, 0],
    [1, 1],
    [101, 1],
    [102, 2],
    [303, 3],
    [304, 3],
  ])(
    "a receive on a standard queue with room for %i bytes of dead messages lets %i of three die, and gives none behind those that are left",
    (deadBytesMax, count) => {
      for (const [fifo, ...names] of [
        [false, "a", "b", "c", "d"],
        [false, "a-1", "b-1", "c-1", "d-1"],
        [true, "a-1", "b-1", "c-1", "d-1"],
      ] as const) {
        const receivers = new Receivers({ maxRetries: 0, fifo });
        receivers.send(...names.slice(0, 3));
        receivers.receive(10, 0);
        receivers.send(...names.slice(3));
        const { queue, nowMs } = receivers;
        const request = { max: 10, visibleAtMs: nowMs + 1_000, deadBytesMax };
        const { lease, dead, deadRoom } = receive(queue, request, nowMs);
        expect([names, dead.length, lease?.count ?? 0]).toEqual([names, count, count === 3 ? 1 : 0]);
        expect(deadRoom).toBe(deadBytesMax - 101 * count);
        checkInvariants(queue);
      }
    },
  );

  it.each([
    [0, 1],
    [1, 2],
    [9, 10],
  ])(
    "a receive on a standard queue with max_retries %i gives a message %i time(s), and moves it at the next receive",
    (maxRetries, receives) => {
      const queue = standard({ maxRetries });
      queue.send("m", "other");
      for (let i = 0; i < receives; i++) expect(queue.receive(1, 0)).toEqual(["m"]);
      // It is not moved when its visibility timeout ends, but at the next receive.
      expect(queue.dead).toEqual([]);
      expect(counts(queue.queue).ready).toBe(2);
      expect(queue.receive(1)).toEqual(["other"]);
      expect(queue.dead).toEqual(["m"]);
    },
  );
});

it.each([
  [-1, 0, "changed"],
  [0, 1, "gone"],
  [1, 1, "gone"],
])(
  "a message in flight whose retention ends (spec sqs 3.1) %i ms from then: %i expire, a change of its visibility says %s",
  (ms, count, outcome) => {
    const queue = standard({ retentionMs: 60_000 });
    const sentMs = queue.nowMs;
    queue.send("m");
    queue.receive(1, 3_600_000);
    expect(nextWakeAt(queue.queue, false)).toBe(sentMs + 60_000);
    queue.nowMs = sentMs + 60_000 + ms;
    expect(expireRetention(queue.queue, queue.nowMs)).toBe(count);
    expect(queue.setVisibility("m", 5_000)).toBe(outcome);
  },
);

it("messages in flight (spec sqs 3.5) are counted exactly, however they leave", () => {
  const queue = standard();
  queue.send("a", "b", "c", "d");
  receive(queue.queue, { max: 1, visibleAtMs: queue.nowMs }, queue.nowMs);
  expect(counts(queue.queue).leased).toBe(0);
  queue.receive(4, 1_000);
  queue.delete("a");
  queue.setVisibility("b", 0);
  queue.setVisibility("c", 2_000);
  expect(counts(queue.queue)).toMatchObject({ leased: 2, ready: 1 });
  queue.nowMs += 1_000;
  expect(queue.receive(10, 0)).toEqual(["b", "d"]);
  expect(counts(queue.queue)).toMatchObject({ leased: 1, ready: 2 });
});

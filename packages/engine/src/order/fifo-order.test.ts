import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { pull, queueWith, T0 } from "../../test/queues.ts";
import { Receivers } from "../../test/receivers.ts";
import { removeMessage } from "../commands/purge.ts";
import { changeRules, counts, release, retry, send } from "../index.ts";

const fifo = () => new Receivers({ fifo: true });

describe("a receive on a FIFO queue (spec sqs 4.2)", () => {
  it("takes as many as possible of one group, then fills up from others, in order within each", () => {
    const queue = fifo();
    queue.send("a-1", "b-1", "a-2", "b-2", "a-3");
    expect(queue.receive(4)).toEqual(["a-1", "a-2", "a-3", "b-1"]);
    expect(queue.receive(4)).toEqual([]);
  });

  it("gives no later message of a group while one of it is in flight, but those of other groups", () => {
    const queue = fifo();
    queue.send("a-1", "a-2", "b-1");
    expect(queue.receive(1)).toEqual(["a-1"]);
    expect(queue.receive(10)).toEqual(["b-1"]);
    queue.send("a-3");
    expect(queue.receive(10)).toEqual([]);
  });

  it("goes on with a group when every message in flight is deleted, not before", () => {
    const queue = fifo();
    queue.send("a-1", "a-2", "a-3");
    expect(queue.receive(2)).toEqual(["a-1", "a-2"]);
    queue.delete("a-2");
    expect(queue.receive(2)).toEqual([]);
    queue.delete("a-1");
    expect(queue.receive(2)).toEqual(["a-3"]);
  });

  it("keeps nothing of a group when its last message is gone", () => {
    const queue = fifo();
    queue.send("a-1", "b-1", "b-2");
    queue.receive(10);
    queue.delete("a-1", "b-1");
    queue.receive(10);
    expect([...(queue.queue.order?.groups.keys() ?? [])]).toEqual(["b"]);
  });

  it("gives the one that became visible, while the one behind it stays hidden and blocks the rest", () => {
    const queue = fifo();
    queue.send("a-1", "a-2", "a-3");
    queue.receive(2);
    queue.setVisibility("a-1", 0);
    expect(queue.receive(10)).toEqual(["a-1"]);
    queue.setVisibility("a-2", 0);
    expect(queue.receive(10)).toEqual([]);
  });

  it.each([
    ["a-1", []],
    ["a-2", ["a-1"]],
    ["a-3", ["a-1", "a-2"]],
  ])("gives the messages before the one that was extended, %s", (extended, received) => {
    const queue = fifo();
    queue.send("a-1", "a-2", "a-3", "a-4");
    queue.receive(3, 1_000);
    queue.setVisibility(extended, 4_000);
    queue.nowMs += 1_000;
    expect(queue.receive(10)).toEqual(received);
  });

  it("gives an expired batch again in its order", () => {
    const queue = fifo();
    queue.send("a-1", "a-2", "a-3", "a-4");
    queue.receive(3, 1_000);
    queue.nowMs += 1_000;
    expect(queue.receive(10)).toEqual(["a-1", "a-2", "a-3", "a-4"]);
  });

  it("begins with the group whose first message has waited longest", () => {
    const queue = fifo();
    queue.send("g1-1", "g1-2", "g2-1", "g2-2", "g1-3", "g1-4", "g3-1");
    queue.receive(2);
    queue.delete("g1-1", "g1-2");
    expect(queue.receive(10)).toEqual(["g2-1", "g2-2", "g1-3", "g1-4", "g3-1"]);
  });

  it("lets groups that were never touched go before those that became visible again, in that order", () => {
    const queue = fifo();
    queue.send("g1-1", "g1-2", "g2-1", "g2-2", "g3-1");
    expect(queue.receive(4)).toEqual(["g1-1", "g1-2", "g2-1", "g2-2"]);
    queue.setVisibility("g2-2", 0);
    queue.setVisibility("g2-1", 0);
    queue.nowMs += 10;
    queue.setVisibility("g1-1", 0);
    queue.setVisibility("g1-2", 0);
    expect(queue.receive(10)).toEqual(["g3-1", "g2-1", "g2-2", "g1-1", "g1-2"]);
  });

  it("a receive on a FIFO queue with a timeout of 0 leaves the group free", () => {
    const queue = fifo();
    queue.send("a-1", "a-2");
    expect(queue.receive(1, 0)).toEqual(["a-1"]);
    expect(queue.receive(10, 0)).toEqual(["a-1", "a-2"]);
  });

  it("waits for a delayed message before later ones of its group", () => {
    const queue = fifo();
    const { nowMs } = queue;
    send(queue.queue, { sizes: [1, 1], dueMs: [nowMs + 1_000, nowMs], groups: ["a", "a"] }, nowMs);
    expect(queue.receive(10)).toEqual([]);
    queue.nowMs += 1_000;
    expect(queue.receive(10)).toHaveLength(2);
  });

  it("goes on with the group after a message of it has died", () => {
    const queue = new Receivers({ fifo: true, maxRetries: 1 });
    queue.send("a-1", "a-2");
    expect([queue.receive(1, 0), queue.receive(1, 0)]).toEqual([["a-1"], ["a-1"]]);
    expect(queue.receive(1)).toEqual(["a-2"]);
    expect(queue.dead).toEqual(["a-1"]);
  });

  it("goes on with the group whose first message is next in line after one of another group has died", () => {
    const queue = new Receivers({ fifo: true, maxRetries: 0 });
    queue.send("a-1");
    expect(queue.receive(1, 0)).toEqual(["a-1"]);
    queue.nowMs += 1;
    queue.send("b-1", "a-2");
    expect(queue.receive(1)).toEqual(["b-1"]);
    expect(queue.dead).toEqual(["a-1"]);
    expect(queue.receive(10)).toEqual(["a-2"]);
  });

  it("gives what is behind a message that dies together with what is before it", () => {
    const queue = new Receivers({ fifo: true, maxRetries: 0 });
    queue.send("a-1", "a-2", "a-3", "b-1");
    // A delivery that no handler ran counts for the message that it failed for alone.
    const { leaseId, slices } = pull(queue.queue, 2, queue.nowMs);
    const ranges = slices.flatMap((slice) =>
      Array.from({ length: slice.to - slice.from }, (_, i) => {
        return { leaseId, segmentId: slice.segmentId, from: slice.from + i, to: slice.from + i + 1 };
      }),
    );
    const [first, second] = ranges;
    if (first === undefined || second === undefined) throw new Error("two were leased");
    changeRules(queue.queue, { ...queue.queue.rules, maxRetries: 1 });
    retry(queue.queue, second, queue.nowMs, queue.nowMs);
    release(queue.queue, first, queue.nowMs, queue.nowMs);
    changeRules(queue.queue, { ...queue.queue.rules, maxRetries: 0 });
    expect(queue.receive(3)).toEqual(["a-1", "a-3", "b-1"]);
    expect(queue.dead).toEqual(["a-2"]);
    checkInvariants(queue.queue);
  });

  it("forgets a group whose only message is deleted while it is ready", () => {
    const queue = fifo();
    queue.send("a-1", "b-1");
    const [segment] = queue.queue.segments.values();
    expect(removeMessage(queue.queue, { segmentId: segment?.id ?? 0, index: 0 })).toBe(true);
    checkInvariants(queue.queue);
    expect(queue.receive(10)).toEqual(["b-1"]);
  });

  it("takes messages that name no group for one group", () => {
    const queue = fifo();
    send(queue.queue, { sizes: [1], dueMs: T0 }, T0);
    send(queue.queue, { sizes: [1, 1], dueMs: T0, groups: [null, "a"] }, T0);
    expect(queue.receive(1)).toHaveLength(1);
    expect(queue.receive(10)).toHaveLength(1);
    checkInvariants(queue.queue);
  });

  it("counts messages of a blocked group as visible", () => {
    const queue = fifo();
    queue.send("a-1", "a-2", "a-3");
    queue.receive(1);
    expect(counts(queue.queue)).toMatchObject({ ready: 2, leased: 1 });
  });
});

describe("a queue that turns out to be a FIFO queue", () => {
  it("is one from its first message on, if it has none yet, and numbers them as one", () => {
    const queue = new Receivers({});
    changeRules(queue.queue, { ...queue.queue.rules, fifo: true });
    queue.send("a-1", "a-2");
    expect([queue.receive(1), queue.receive(1)]).toEqual([["a-1"], []]);
    expect(queue.queue.nextSeq).toBe(queueWith({ fifo: true }).nextSeq + 2);
  });

  it("is none as long as its rules do not say so", () => {
    const queue = new Receivers({});
    changeRules(queue.queue, { ...queue.queue.rules, fifo: false });
    changeRules(queue.queue, queueWith().rules);
    queue.send("a-1", "a-2");
    expect([queue.receive(1), queue.receive(1)]).toEqual([["a-1"], ["a-2"]]);
  });

  it("is one no longer when it is empty and its rules say so", () => {
    const queue = fifo();
    const { nextSeq } = queue.queue;
    changeRules(queue.queue, { ...queue.queue.rules, fifo: false });
    expect(queue.queue.nextSeq).toBe(nextSeq);
    queue.send("a-1", "a-2");
    expect([queue.receive(1), queue.receive(1)]).toEqual([["a-1"], ["a-2"]]);
  });

  it("stays what it is while it has messages", () => {
    const queue = new Receivers({});
    queue.send("a-1", "a-2");
    changeRules(queue.queue, { ...queue.queue.rules, fifo: true, maxRetries: 7 });
    expect([queue.receive(1), queue.receive(1)]).toEqual([["a-1"], ["a-2"]]);
    expect(queue.queue.rules.maxRetries).toBe(7);
    queue.delete("a-1", "a-2");
    changeRules(queue.queue, queue.queue.rules);
    queue.send("a-3", "a-4");
    expect([queue.receive(1), queue.receive(1)]).toEqual([["a-3"], []]);
  });
});

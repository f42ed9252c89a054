import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { pull } from "../../test/queues.ts";
import { Receivers } from "../../test/receivers.ts";
import { send } from "../index.ts";
import { nextBatch } from "../push/dispatch.ts";
import { NOISY_IN_FLIGHT_MIN, QUIET_AFTER_MS } from "./fair-order.ts";

const times = (n: number, prefix: string) => Array.from({ length: n }, (_, i) => `${prefix}-${i}`);

/**
 * A queue with `inFlight` messages of tenant "loud" in flight and three more of them waiting before those of "quiet".
 */
function withLoud(inFlight: number): Receivers {
  const queue = new Receivers({});
  queue.send(...times(inFlight, "loud"));
  expect(queue.receive(inFlight)).toHaveLength(inFlight);
  queue.send("loud-x", "loud-y", "loud-z", "quiet-1", "quiet-2", "alone");
  return queue;
}

describe("a standard queue with groups (spec sqs 8)", () => {
  it("gives messages in the order of their sends while no tenant is noisy", () => {
    const queue = new Receivers({});
    queue.send("a-1", "a-2", "b-1", "alone", "a-3");
    expect(queue.receive(10)).toEqual(["a-1", "a-2", "b-1", "alone", "a-3"]);
  });

  it("blocks no group: several receivers work on one at a time", () => {
    const queue = new Receivers({});
    queue.send("a-1", "a-2", "a-3");
    expect([queue.receive(1), queue.receive(1), queue.receive(1)]).toEqual([["a-1"], ["a-2"], ["a-3"]]);
  });

  it.each([
    [NOISY_IN_FLIGHT_MIN - 1, ["loud-x", "quiet-1", "quiet-2", "alone", "loud-y", "loud-z"]],
    [NOISY_IN_FLIGHT_MIN, ["quiet-1", "quiet-2", "alone", "loud-x", "loud-y", "loud-z"]],
    [NOISY_IN_FLIGHT_MIN + 1, ["quiet-1", "quiet-2", "alone", "loud-x", "loud-y", "loud-z"]],
  ])("lets others go before a tenant with %i messages in flight", (inFlight, order) => {
    expect(withLoud(inFlight).receive(10)).toEqual(order);
  });

  it("finds a tenant noisy with more than a tenth of what is in flight, not with a tenth", () => {
    const ofOthers = 9 * NOISY_IN_FLIGHT_MIN;
    for (const [others, order] of [
      [ofOthers, ["loud-x", "late-1"]],
      [ofOthers - 1, ["late-1", "loud-x"]],
    ] as const) {
      const queue = new Receivers({});
      queue.send(...Array.from({ length: others }, (_, i) => `t${i}-0`));
      queue.receive(others);
      queue.send(...times(NOISY_IN_FLIGHT_MIN, "loud"));
      queue.receive(NOISY_IN_FLIGHT_MIN);
      queue.send("loud-x", "late-1");
      expect(queue.receive(2)).toEqual(order);
    }
  });

  it("gives those of noisy tenants when nothing else is ready, fewest in flight first", () => {
    const queue = new Receivers({});
    queue.send(...times(40, "louder"), ...times(30, "loud"));
    queue.receive(70);
    queue.send("louder-x", "loud-x", "louder-y", "loud-y");
    expect(queue.receive(10)).toEqual(["loud-x", "loud-y", "louder-x", "louder-y"]);
  });

  it("never finds messages without a group noisy: each is a tenant of its own", () => {
    const queue = new Receivers({});
    queue.send(...Array.from({ length: 50 }, (_, i) => `alone${i}`));
    queue.receive(50);
    queue.send("one", "quiet-1");
    expect(queue.receive(2)).toEqual(["one", "quiet-1"]);
  });

  it("never finds messages noisy that name no group among others that do", () => {
    const queue = new Receivers({});
    const { nowMs } = queue;
    const groups = [...Array<null>(NOISY_IN_FLIGHT_MIN).fill(null), "quiet"];
    const sizes = groups.map(() => 1);
    const first = send(queue.queue, { sizes, dueMs: nowMs, groups }, nowMs);
    pull(queue.queue, NOISY_IN_FLIGHT_MIN, nowMs);
    const last = send(queue.queue, { sizes: [1, 1], dueMs: nowMs, groups: [null, "quiet"] }, nowMs);
    expect(last.segmentId).toBe(first.segmentId);
    const { slices } = pull(queue.queue, 3, nowMs);
    expect(slices).toEqual([
      { segmentId: first.segmentId, from: NOISY_IN_FLIGHT_MIN, to: NOISY_IN_FLIGHT_MIN + 3, attempts: 1 },
    ]);
  });

  it.each([
    [QUIET_AFTER_MS - 1, ["quiet-1", "quiet-2"]],
    [QUIET_AFTER_MS, ["loud-x", "loud-y"]],
  ])("takes a tenant of which nothing has changed for %i ms for quiet by its last send", (ms, order) => {
    const queue = new Receivers({});
    queue.send(...times(NOISY_IN_FLIGHT_MIN, "loud"));
    queue.receive(NOISY_IN_FLIGHT_MIN, 2 * QUIET_AFTER_MS);
    queue.send("loud-x", "loud-y");
    const sentMs = queue.nowMs - 1;
    queue.send("quiet-1", "quiet-2");
    // A receive settles which groups are noisy.
    expect(queue.receive(0)).toEqual([]);
    queue.queue.order?.sortGroups(queue.queue);
    queue.nowMs = sentMs + ms;
    expect(queue.receive(2)).toEqual(order);
    checkInvariants(queue.queue);
  });

  it("moves a message that was received too often, and goes on with the one whose turn it is", () => {
    const queue = new Receivers({ maxRetries: 0 });
    queue.send("a-1");
    queue.receive(1, 0);
    queue.send("b-1", "a-2");
    expect(queue.receive(1)).toEqual(["b-1"]);
    expect(queue.dead).toEqual(["a-1"]);
    expect(queue.receive(1)).toEqual(["a-2"]);
  });

  it("pushes those of a noisy tenant when the first of them has waited max_batch_timeout", () => {
    const batchTimeoutMs = 5_000;
    const queue = new Receivers({ batchTimeoutMs, maxBatchSize: 10 });
    queue.send(...times(NOISY_IN_FLIGHT_MIN, "loud"));
    queue.receive(NOISY_IN_FLIGHT_MIN);
    const sentMs = queue.nowMs;
    queue.send("loud-x", "loud-y");
    expect(nextBatch(queue.queue, sentMs + batchTimeoutMs - 1)).toBeNull();
    expect(nextBatch(queue.queue, sentMs + batchTimeoutMs)).toMatchObject({ count: 2 });
  });

  it("never finds messages without a group noisy while a tenant with as many in flight is", () => {
    const queue = new Receivers({});
    queue.send(...Array.from({ length: 30 }, (_, i) => `alone${i}`), ...times(30, "loud"));
    queue.receive(60);
    queue.send("loud-x", "one", "quiet-1");
    expect(queue.receive(3)).toEqual(["one", "quiet-1", "loud-x"]);
  });

  it("takes a tenant for quiet again when its backlog is drained", () => {
    const queue = withLoud(NOISY_IN_FLIGHT_MIN);
    queue.receive(10);
    queue.delete(...times(NOISY_IN_FLIGHT_MIN, "loud"));
    queue.send("loud-1", "quiet-3");
    expect(queue.receive(2)).toEqual(["loud-1", "quiet-3"]);
  });

  it.each([
    [QUIET_AFTER_MS - 1, ["quiet-1", "quiet-2"]],
    [QUIET_AFTER_MS, ["loud-x", "loud-y"]],
  ])("takes a tenant for quiet again when it has sent nothing for %i ms", (ms, order) => {
    const queue = withLoud(NOISY_IN_FLIGHT_MIN);
    // The last of its messages was sent three others and itself ago.
    const sentMs = queue.nowMs - 4;
    expect(queue.receive(0)).toEqual([]);
    for (const [name] of queue.receipts) queue.setVisibility(name, 2 * QUIET_AFTER_MS);
    queue.nowMs = sentMs + ms;
    expect(queue.receive(2)).toEqual(order);
  });
});

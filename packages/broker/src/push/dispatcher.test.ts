import type { DeliveryResult } from "@sluice/protocol";
import { resultOf } from "@sluice/protocol/test/delivery-result";
import { describe, expect, it } from "vitest";
import { bodiesOf, type consumer } from "../../test/messages.ts";
import { MINUTE_MS, one, worldWith } from "../../test/orders-world.ts";
import type { World } from "../../test/world.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";

describe("delivery", () => {
  // conformance: batch-trigger
  it("delivers a full batch at once and the rest after max_batch_timeout, whichever comes first", async () => {
    const world = worldWith({ maxBatchSize: 2, maxBatchTimeoutSeconds: 5 });
    await world.sendAndPass("orders", ["a", "b", "c"]);
    expect(bodiesOf(world.seen)).toEqual([["a", "b"]]);
    await world.pass(4_999);
    expect(world.seen).toHaveLength(1);
    await world.pass(1);
    expect(bodiesOf(world.seen)).toEqual([["a", "b"], ["c"]]);
    expect(world.handled).toEqual([
      ["orders", 2, 2],
      ["orders", 1, 1],
    ]);
  });

  // conformance: empty-queue
  it("is not made for an empty queue", async () => {
    const world = worldWith(one);
    await world.sendAndPass("orders", ["a"], 10 * MINUTE_MS);
    expect(world.seen).toHaveLength(1);
  });

  it("tells the consumer what waits besides the batch, by the time the batch is made", async () => {
    const world = worldWith({ maxBatchSize: 2 });
    await world.sendAndPass("orders", ["a", "bb", "ccc"]);
    expect(world.seen[0]?.metrics).toEqual({
      backlogCount: 1,
      backlogBytes: 3,
      oldestMessageTimestampMs: world.nowMs,
    });
  });

  it("joins messages of several segments and attempts into one batch", async () => {
    const world = worldWith({ maxBatchSize: 3, maxBatchTimeoutSeconds: 5 });
    world.handler = (batch) => (batch.messages.length === 1 ? { outcome: "exception" } : {});
    await world.sendAndPass("orders", ["retried"], 5_000);
    await world.send("orders", ["delayed"], { delaySeconds: 2 });
    await world.sendAndPass("orders", ["prompt"], 2_000);
    expect(world.seen[1]?.messages).toMatchObject([
      { body: "retried", attempts: 2 },
      { body: "prompt", attempts: 1 },
      { body: "delayed", attempts: 1 },
    ]);
  });

  it("gives the attempts as one number when all messages have the same, else one by one", async () => {
    const world = worldWith({ maxBatchSize: 2, maxBatchTimeoutSeconds: 5 });
    const attempts: unknown[] = [];
    const { deliver } = world;
    world.deliver = (delivery) => {
      attempts.push(delivery.attempts);
      return deliver(delivery);
    };
    world.handler = (batch) => (batch.messages.length === 1 ? { outcome: "exception" } : {});
    await world.sendAndPass("orders", ["a", "b", "c"], 5_000);
    await world.sendAndPass("orders", ["d"], 5_000);
    expect(attempts).toEqual([1, 1, [2, 1]]);
  });

  it("runs max_concurrency batches at a time and no more", async () => {
    const world = worldWith({ ...one, maxConcurrency: 3 });
    const running = new Set<string>();
    let most = 0;
    const finish: (() => void)[] = [];
    world.handler = async (batch) => {
      const body = batch.messages[0]?.body ?? "";
      running.add(body);
      most = Math.max(most, running.size);
      await new Promise<void>((resolve) => finish.push(resolve));
      running.delete(body);
      return {};
    };
    await world.send("orders", [..."abcdefghijkl"]);
    for (let round = 0; round < 12; round++) {
      await world.pass(0);
      finish.shift()?.();
    }
    await world.pass(0);
    expect(most).toBe(3);
    expect(world.seen).toHaveLength(12);
  });
});

it("a settlement that fails starts the queue again: the messages are delivered again and no slot is lost", async () => {
  const world = worldWith(one);
  const { push } = world.handled;
  world.handled.push = () => {
    world.handled.push = push;
    throw new Error("a mistake");
  };
  await world.send("orders", ["a"]);
  await world.sendAndPass("orders", ["b"], HEARTBEAT_MS);
  expect(world.broken).toHaveLength(1);
  expect(world.lines[0]).toBe('error: Queue "orders": a delivery could not be settled: Error: a mistake');
  expect(bodiesOf(world.seen).slice(-1)).toEqual([["b"]]);
  expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
});

it.each<[string, unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["a text", "ok"],
  ["a result without an outcome", { ...resultOf({}), outcome: undefined }],
  ["a result without acknowledgements", { ...resultOf({}), explicitAcks: undefined }],
  ["acknowledgements that are no list", { ...resultOf({}), explicitAcks: "all" }],
  ["a result without a batch retry", { ...resultOf({}), retryBatch: undefined }],
  ["retries that are no objects", { ...resultOf({}), retryMessages: ["m1"] }],
  ["a delay that is no number", { ...resultOf({}), retryMessages: [{ msgId: "m1", delaySeconds: "5" }] }],
  ["a delay that is not finite", { ...resultOf({}), retryBatch: { retry: true, delaySeconds: NaN } }],
])(
  "a consumer that answers with something that is no result a delivery has failed that is answered with %s",
  async (_what, answer) => {
    const world = worldWith(one);
    let calls = 0;
    world.deliver = async () => {
      calls += 1;
      return (calls === 1 ? answer : resultOf({})) as DeliveryResult;
    };
    await world.sendAndPass("orders", ["a"]);
    expect(calls).toBe(2);
    expect(world.broken).toEqual([]);
    expect(world.lines).toEqual([expect.stringContaining("(attempt 1 of 4): the consumer answered with")]);
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
    expect(world.core("orders").queue.push.inFlight).toBe(0);
  },
);

describe("a payload that is lost", () => {
  /** Two segments with a message each that become due together, in their order. */
  async function twoSegments(settings: Parameters<typeof consumer>[0]): Promise<[World, number, number]> {
    const world = worldWith({ ...settings, maxBatchTimeoutSeconds: 60 });
    await world.send("orders", ["delayed"], { delaySeconds: 1 });
    await world.send("orders", ["prompt"]);
    const [delayed, prompt] = [...world.store("orders").segments()].map(({ id }) => id);
    if (delayed === undefined || prompt === undefined) throw new Error("there are two segments");
    return [world, delayed, prompt];
  }

  it.each(["lost", "damaged", "too short"])(
    "is reported when it is %s, and the rest is delivered",
    async (how) => {
      const [world, , prompt] = await twoSegments({});
      world.restart("orders");
      world.store("orders").damage(({ segments }) => {
        const row = segments.get(prompt);
        if (row === undefined) throw new Error("it is there");
        const payload = how === "damaged" ? row.payload.slice(1) : new Uint8Array();
        if (how === "lost") segments.delete(prompt);
        else segments.set(prompt, { ...row, payload });
      });
      world.handler = (batch) => ({
        retryMessages: batch.messages.map(({ id }) => ({ msgId: id, delaySeconds: 5 })),
      });
      await world.pass(MINUTE_MS);
      expect(bodiesOf(world.seen)).toEqual([["delayed"]]);
      expect(world.seen[0]?.messages).toMatchObject([{ attempts: 1 }]);
      expect(world.lines).toEqual([
        expect.stringMatching(/^error: Queue "orders": 1 message is lost: /),
        expect.stringMatching(/^info: Retrying message ".*" on queue "orders" in 5 s/),
      ]);
      expect(world.handled).toEqual([["orders", 0, 1]]);
      expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 1, leased: 0 });
      expect(world.core("orders").queue.push.inFlight).toBe(0);
      expect([...world.store("orders").segments()].map(({ id }) => id)).not.toContain(prompt);
    },
  );
});

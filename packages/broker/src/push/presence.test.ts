import type { DeliveryResult } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer, definition, pullConsumer, seenOf } from "../../test/messages.ts";
import { MINUTE_MS, one, worldWith } from "../../test/orders-world.ts";
import { World } from "../../test/world.ts";
import { BACKOFF_FIRST_MS, BACKOFF_MAX_MS } from "../platform/backoff.ts";
import { CONSUMER_LOOK_MS } from "./dispatcher.ts";
import { PROBE_MS_MAX } from "./presence.ts";

describe("a consumer that is absent", () => {
  it("leaves the messages where they were, uncounted and in order, and gets them when it is back", async () => {
    const world = worldWith(one);
    world.running = false;
    for (const body of ["a", "b", "c"]) await world.send("orders", [body]);
    await world.pass(MINUTE_MS);
    expect(world.seen).toEqual([]);
    expect(world.core("orders").describe()).toMatchObject({ ready: 3, delayed: 0, leased: 0 });
    world.running = true;
    await world.pass(BACKOFF_MAX_MS);
    expect(bodiesOf(world.seen)).toEqual([["a"], ["b"], ["c"]]);
    expect(world.seen.map((batch) => batch.messages[0]?.attempts)).toEqual([1, 1, 1]);
  });

  it("is reported as absent once, and as back once", async () => {
    const world = worldWith(one);
    world.running = false;
    await world.sendAndPass("orders", ["a"], 10 * MINUTE_MS);
    await world.sendAndPass("orders", ["b"], 10 * MINUTE_MS);
    const absent = 'warn: Queue "orders": its consumer "consumer" is not running, its messages wait';
    expect(world.lines).toEqual([absent]);
    world.running = true;
    await world.pass(MINUTE_MS);
    expect(world.lines).toEqual([absent, 'info: Queue "orders": its consumer "consumer" is running again']);
  });

  it("is reported as absent once though several batches were on their way", async () => {
    const world = worldWith({ ...one, maxConcurrency: 5 });
    const refused = Promise.withResolvers<Partial<DeliveryResult>>();
    world.handler = () => refused.promise;
    world.core("orders").queue.push.target = 5;
    await world.sendAndPass("orders", ["a", "b", "c", "d", "e"]);
    expect(world.seen).toHaveLength(5);
    world.running = false;
    refused.reject(new Error("the Worker is not running"));
    await world.pass(0);
    expect(world.lines).toHaveLength(1);
    expect(world.core("orders").describe()).toMatchObject({ ready: 5, leased: 0 });
    expect(world.core("orders").queue.push.inFlight).toBe(0);
  });

  it("is asked again after twice the time each, up to the maximum, not called", async () => {
    const world = worldWith(one);
    world.running = false;
    await world.sendAndPass("orders", ["a"]);
    const asked: number[] = [];
    const begunMs = world.nowMs;
    let pings = world.pings;
    while (asked.length < 10) {
      await world.pass(100);
      if (world.pings > pings) asked.push(world.nowMs - begunMs);
      pings = world.pings;
    }
    const waits = asked.map((atMs, i) => atMs - (asked[i - 1] ?? 0));
    const doubling = Array.from({ length: 10 }, (_, i) =>
      Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** i),
    );
    expect(waits).toEqual(doubling);
    expect(world.seen).toEqual([]);
  });

  it("is asked for the sake of delayed messages too", async () => {
    const world = worldWith(one);
    world.running = false;
    await world.sendAndPass("orders", ["now", "later"], BACKOFF_FIRST_MS, { ownDelays: [0, 3_600] });
    expect(world.pings).toBe(1);
  });

  it("gets its messages at the moment it says that it is back", async () => {
    const world = worldWith(one);
    world.running = false;
    await world.sendAndPass("orders", ["a"]);
    world.running = true;
    await world.pass(BACKOFF_FIRST_MS);
    expect(bodiesOf(world.seen)).toEqual([["a"]]);
  });

  it("is not asked while nothing waits for it", async () => {
    const world = new World({ orders: { messageRetentionSeconds: 60, consumer: consumer(one) } });
    world.running = false;
    await world.sendAndPass("orders", ["a"], MINUTE_MS);
    expect(world.core("orders").metrics().backlogCount).toBe(0);
    const { pings } = world;
    await world.pass(60 * MINUTE_MS);
    expect(world.pings).toBe(pings);
    expect(world.alarmIn("orders")).toBeNull();
  });

  it("keeps the alarm set while it is asked: a crash in between must not end the waiting", async () => {
    const world = worldWith(one);
    world.running = false;
    await world.sendAndPass("orders", ["a"]);
    const answer = Promise.withResolvers<void>();
    world.ping = () => answer.promise;
    await world.pass(BACKOFF_FIRST_MS);
    expect(world.alarmIn("orders")).toBeLessThanOrEqual(PROBE_MS_MAX);
    world.crash("orders");
    world.running = true;
    await world.pass(PROBE_MS_MAX);
    expect(bodiesOf(world.seen)).toEqual([["a"]]);
  });

  it("is not taken for absent by news that is older than its own word that it is back", async () => {
    const world = worldWith({ ...one, maxConcurrency: 2 });
    const calls = [
      Promise.withResolvers<Partial<DeliveryResult>>(),
      Promise.withResolvers<Partial<DeliveryResult>>(),
    ];
    world.handler = () => calls[world.seen.length - 1]?.promise ?? {};
    world.core("orders").queue.push.target = 2;
    await world.sendAndPass("orders", ["a", "b"]);
    world.running = false;
    calls[0]?.reject(new Error("the Worker is not running"));
    await world.pass(0);
    world.running = true;
    await world.pass(BACKOFF_FIRST_MS);
    expect(bodiesOf(world.seen)).toEqual([["a"], ["b"], ["a"]]);

    // Whether the call ran is asked for before the consumer is back, and answered after it.
    world.callsOf = () => Promise.reject(new Error("the Worker was not running"));
    calls[1]?.reject(new Error("the Worker was not running"));
    await world.pass(0);
    expect(bodiesOf(world.seen)).toEqual([["a"], ["b"], ["a"], ["b"]]);
    expect(world.lines).toHaveLength(2);
  });

  it("is asked again when it does not answer at all", async () => {
    const world = worldWith(one);
    world.running = false;
    await world.sendAndPass("orders", ["a"]);
    world.ping = () => new Promise(() => {});
    await world.pass(BACKOFF_FIRST_MS);
    world.ping = () => Promise.resolve();
    world.running = true;
    await world.pass(2 * BACKOFF_MAX_MS);
    expect(bodiesOf(world.seen)).toEqual([["a"]]);
  });
});

describe("a queue without a consumer", () => {
  const deploy = (world: World) => {
    world.queues.orders = definition({ consumer: consumer(one) });
    world.crash("orders");
  };

  it("delivers its messages to the consumer that a deployment adds, though no call comes", async () => {
    const world = new World({ orders: {} });
    await world.sendAndPass("orders", ["a"], 60 * MINUTE_MS);
    expect([world.pings, world.seen.length]).toEqual([0, 0]);
    deploy(world);
    await world.pass(CONSUMER_LOOK_MS);
    expect(bodiesOf(world.seen)).toEqual([["a"]]);
  });

  it("looks as seldom as that, and not while it is empty", async () => {
    const world = new World({ orders: {} });
    world.core("orders");
    await world.pass(60 * MINUTE_MS);
    expect(world.alarms).toEqual([]);
    await world.sendAndPass("orders", ["a"], 10 * CONSUMER_LOOK_MS - 1, { delaySeconds: 10 });
    expect(world.alarms).toHaveLength(10);
  });

  it("does not look where clients pull", async () => {
    const world = new World({ orders: { consumer: pullConsumer({ maxBatchSize: 10 }) } });
    await world.send("orders", ["a"]);
    expect(world.alarmIn("orders")).toBe(345_600_000);
  });
});

describe("a delivery whose call fails although its Worker answers", () => {
  it("is a crash of the handler: counted, retried and logged", async () => {
    const world = worldWith({ ...one, retryDelaySeconds: 10 });
    let calls = 0;
    world.deliver = async () => {
      calls += 1;
      throw new Error("The script was terminated");
    };
    await world.sendAndPass("orders", ["a"]);
    expect(calls).toBe(1);
    expect(world.core("orders").describe()).toMatchObject({ delayed: 1, leased: 0 });
    expect(world.lines).toEqual([
      expect.stringMatching(
        /^info: Retrying message ".*" on queue "orders" in 10 s \(attempt 1 of 4\): Error: The script was terminated$/,
      ),
    ]);
    await world.pass(30_000);
    expect(calls).toBe(4);
    expect(world.lines.at(-1)).toMatch(/^warn: Dropped message .* after 4 failed attempt\(s\)/);
  });

  it("keeps what the handler had acknowledged, and the delays that it asked for", async () => {
    const world = worldWith({ maxBatchSize: 3, retryDelaySeconds: 10 });
    world.deliver = async (delivery) => {
      const ids = seenOf(delivery).messages.map(({ id }) => id);
      const [acked = "", retried = ""] = ids;
      world.callsOf = async (deliveryId) => {
        expect(deliveryId).toBe(delivery.id);
        return {
          ackAll: false,
          retryBatch: { retry: false },
          explicitAcks: [acked],
          retryMessages: [{ msgId: retried, delaySeconds: 60 }],
        };
      };
      throw new Error("your Worker's code had hung");
    };
    await world.sendAndPass("orders", ["acked", "retried", "unmentioned"]);
    expect(world.core("orders").describe()).toMatchObject({ delayed: 2, leased: 0 });
    expect(world.handled).toEqual([["orders", 1, 3]]);
    expect(world.lines.map((line) => line.replace(/"\w{32}"/, "M"))).toEqual([
      'info: Retrying message M on queue "orders" in 60 s (attempt 1 of 4): Error: your Worker\'s code had hung',
      'info: Retrying message M on queue "orders" in 10 s (attempt 1 of 4): Error: your Worker\'s code had hung',
    ]);
  });

  it.each<[string, unknown]>([
    ["is not known any more", null],
    ["is no list of calls", { explicitAcks: "all" }],
  ])("retries everything when what the handler did %s", async (_what, calls) => {
    const world = worldWith(one);
    const ids = new Set<string>();
    world.deliver = async ({ id }) => {
      ids.add(id);
      throw new Error("The script was terminated");
    };
    world.callsOf = async () => calls as null;
    await world.sendAndPass("orders", ["a"]);
    expect(world.lines.at(-1)).toMatch(/^warn: Dropped message .* after 4 failed attempt\(s\)/);
    expect(ids.size).toBe(4);
  });
});

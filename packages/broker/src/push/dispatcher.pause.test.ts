import type { DeliveryResult } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer, definition } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { BACKOFF_MAX_MS } from "../platform/backoff.ts";

const RETENTION_MS = 3_600_000;
const one = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };

/** Changes whether delivery is paused, while the queue's object runs. */
async function pause(world: World, deliveryPaused: boolean): Promise<void> {
  world.queues.orders = definition({ ...world.queues.orders, deliveryPaused });
  await world.core("orders").wake();
  await world.pass(0);
}

function paused(): World {
  return new World({
    orders: {
      deliveryPaused: true,
      messageRetentionSeconds: RETENTION_MS / 1000,
      consumer: consumer({ ...one, maxConcurrency: 1 }),
    },
  });
}

describe("a queue whose delivery is paused", () => {
  // conformance: pause
  it("takes what is sent, tells of it and delivers nothing", async () => {
    const world = paused();
    expect(await world.send("orders", ["a", "b"])).toMatchObject({ ok: true, metrics: { backlogCount: 2 } });
    await world.pass(RETENTION_MS - 1);
    expect(world.seen).toEqual([]);
    expect(world.core("orders").describe()).toMatchObject({ ready: 2, leased: 0 });
    expect(world.pings).toBe(0);
  });

  // conformance: pause
  it("sets its alarm for the end of the retention alone, and retention goes on", async () => {
    const world = paused();
    await world.send("orders", ["a", "later"], { ownDelays: [0, 60] });
    expect(world.alarms.map(([, atMs]) => atMs)).toEqual([RETENTION_MS]);
    await world.pass(RETENTION_MS);
    expect(world.core("orders").metrics().backlogCount).toBe(0);
    expect(world.lines).toEqual([
      expect.stringContaining("2 messages are deleted after the retention period"),
    ]);
    expect(world.alarmIn("orders")).toBeNull();
  });

  // conformance: resume
  it("goes on with its backlog at the moment it is resumed", async () => {
    const world = paused();
    await world.sendAndPass("orders", ["a", "b"], 60_000);
    await pause(world, false);
    expect(bodiesOf(world.seen)).toEqual([["a"], ["b"]]);
    expect(world.seen.map((batch) => batch.messages[0]?.attempts)).toEqual([1, 1]);
  });

  it("stays paused over a restart", async () => {
    const world = paused();
    await world.send("orders", ["a"]);
    world.crash("orders");
    await world.sendAndPass("orders", ["b"], 60_000);
    expect(world.seen).toEqual([]);
  });
});

describe("pausing a queue that delivers", () => {
  // conformance: pause
  it("lets the batches in flight finish: what they retry waits, what they acknowledge is gone", async () => {
    const world = paused();
    await pause(world, false);
    const running = Promise.withResolvers<Partial<DeliveryResult>>();
    world.handler = () => running.promise;
    await world.sendAndPass("orders", ["in flight", "waiting"]);
    await pause(world, true);
    running.resolve({ retryBatch: { retry: true } });
    await world.pass(60_000);
    expect(bodiesOf(world.seen)).toEqual([["in flight"]]);
    expect(world.core("orders").describe()).toMatchObject({ ready: 2, leased: 0 });
    world.handler = () => ({});
    await pause(world, false);
    expect(bodiesOf(world.seen.slice(1)).flat().sort()).toEqual(["in flight", "waiting"]);
  });

  it("does not ask after a consumer that is absent until it is resumed", async () => {
    const world = paused();
    await pause(world, false);
    world.running = false;
    await world.sendAndPass("orders", ["a"]);
    await pause(world, true);
    const { pings } = world;
    await world.pass(10 * BACKOFF_MAX_MS);
    expect(world.pings).toBe(pings);
    world.running = true;
    await pause(world, false);
    await world.pass(BACKOFF_MAX_MS);
    expect(bodiesOf(world.seen)).toEqual([["a"]]);
  });
});

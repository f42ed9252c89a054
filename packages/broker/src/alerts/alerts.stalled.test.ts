import type { QueueDefinition } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, pullConsumer } from "../../test/messages.ts";
import type { World } from "../../test/world.ts";
import { alerted, received, told } from "../../test/world-alerts.ts";
import { CONSUMER_LOOK_MS } from "../push/dispatcher.ts";
import { STILL_NOTED_MS } from "./alerts.ts";

const MINUTE_MS = 60_000;
const single = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxConcurrency: 1 };

describe("the alert of a queue that stands still", () => {
  const fiveMinutes = { stalledSeconds: 300 };
  const still = { orders: { consumer: consumer() } };

  it("begins when messages are due and none is delivered, and ends with the next delivery", async () => {
    const world = alerted(still, fiveMinutes);
    world.running = false;
    await world.sendAndPass("orders", ["a"], 5 * MINUTE_MS);
    expect(world.posts).toEqual([]);
    await world.pass(MINUTE_MS);
    await expect.poll(() => told(world)).toEqual(["alert.begun orders stalled"]);
    world.running = true;
    await world.pass(MINUTE_MS);
    await expect.poll(() => told(world).at(-1)).toBe("alert.ended orders stalled");
  });

  it("begins although the object forgets everything in between", async () => {
    const world = alerted(still, fiveMinutes);
    world.running = false;
    await world.sendAndPass("orders", ["a"], 2 * STILL_NOTED_MS + MINUTE_MS);
    for (let i = 0; i < 3; i++) {
      world.restart("orders");
      await world.pass(MINUTE_MS);
      expect(world.posts).toEqual([]);
    }
    world.restart("orders");
    await world.pass(MINUTE_MS);
    await expect.poll(() => told(world)).toEqual(["alert.begun orders stalled"]);
  });

  it("begins where the broker was not started with the consumer", async () => {
    const world = alerted(still, fiveMinutes);
    world.hasConsumer = false;
    await world.sendAndPass("orders", ["a"], CONSUMER_LOOK_MS + 10_000);
    await expect.poll(() => told(world)).toEqual(["alert.begun orders stalled"]);
  });

  it.each<[string, Partial<QueueDefinition>]>([
    ["is paused", { consumer: consumer(), deliveryPaused: true }],
    ["has no consumer", {}],
    ["waits for clients that pull", { consumer: pullConsumer() }],
  ])("is none where the queue %s", async (_, queue) => {
    const world = alerted({ orders: queue }, fiveMinutes);
    world.running = false;
    await world.sendAndPass("orders", ["a"], 60 * MINUTE_MS);
    expect(world.posts).toEqual([]);
  });

  const change = (world: World, changes: Partial<QueueDefinition>) =>
    world.core("orders").reconfigure(
      () => {
        world.queues.orders = { ...world.queues.orders, ...changes } as QueueDefinition;
      },
      () => {},
    );

  it.each<[string, Partial<QueueDefinition>, Partial<QueueDefinition>]>([
    ["the end of a pause", { deliveryPaused: true, consumer: consumer() }, { deliveryPaused: false }],
    ["a consumer is set", {}, { consumer: consumer() }],
  ])("looks at the time since %s", async (_, before, after) => {
    const world = alerted({ orders: before }, fiveMinutes);
    world.running = false;
    await world.sendAndPass("orders", ["a"], 60 * MINUTE_MS);
    await change(world, after);
    const sinceMs = world.nowMs;
    await world.pass(5 * MINUTE_MS - 1);
    expect(world.posts).toEqual([]);
    await world.pass(1);
    await expect.poll(() => told(world)).toEqual(["alert.begun orders stalled"]);
    expect(received(world)[0]?.data.text).toContain(`since ${new Date(sinceMs).toISOString()}`);
  });

  it("looks at the time since a delivery that the consumer has not ended", async () => {
    const world = alerted({ orders: { consumer: consumer(single) } }, fiveMinutes);
    let goAway = () => {};
    world.handler = () =>
      new Promise((_, reject) => {
        goAway = () => reject(new Error("the Worker is gone"));
      });
    await world.sendAndPass("orders", ["a", "b"], 10 * MINUTE_MS);
    world.running = false;
    goAway();
    await world.pass(5 * MINUTE_MS - 1);
    expect(world.posts).toEqual([]);
    await world.pass(MINUTE_MS);
    await expect.poll(() => told(world)).toEqual(["alert.begun orders stalled"]);
  });

  it("is none while a handler runs, or a message is delayed", async () => {
    const world = alerted({ orders: { consumer: consumer(single) } }, fiveMinutes);
    world.handler = () => new Promise(() => {});
    await world.sendAndPass("orders", ["a", "b"], 10 * MINUTE_MS);
    await world.send("orders", ["c"], { delaySeconds: 3_600 });
    expect(world.posts).toEqual([]);
  });
});

import { expect, it } from "vitest";
import { bodiesOf, consumer, definition, endpoint, pullConsumer } from "../../test/messages.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";
import { answered } from "../../test/world-endpoint.ts";
import { Throttle } from "./throttle.ts";

const bodies = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

/** Most messages that were delivered within any second, both ends included in neither of two. */
function mostInASecond(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((atMs) => atMs >= from && atMs < from + 1_000).length));
}

/** When messages reach the consumer, in ms from the start of the world. */
function timesOf(world: World): number[] {
  const times: number[] = [];
  world.handler = (batch) => {
    times.push(...batch.messages.map(() => world.nowMs - WORLD_START_MS));
    return {};
  };
  return times;
}

it("max_receives_per_second spaces requests evenly: 25 messages at 10 a second begin at 0, 100, ..., 2400 ms", async () => {
  const world = new World({ orders: { maxReceivesPerSecond: 10, consumer: endpoint() } });
  await world.sendAndPass("orders", bodies(25), 60_000);
  expect(world.posts.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 25 }, (_, i) => 100 * i));
});

it("max_receives_per_second lets retries compete for the same slots, and takes no waiting for a retry", async () => {
  const world = new World({
    orders: { maxReceivesPerSecond: 2, consumer: endpoint({ maxRetries: 2, maxConcurrency: 1 }) },
  });
  world.answer = () => answered(500);
  await world.sendAndPass("orders", ["a"], 60_000);
  expect(world.posts.map(({ atMs }) => atMs)).toEqual([0, 500, 1_000]);
  expect(world.posts.map(({ headers }) => headers["sluice-attempt"])).toEqual(["1", "2", "3"]);
});

it("max_receives_per_second makes batches of a Worker no larger than what a second may have", async () => {
  const settings = consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 0 });
  const world = new World({ orders: { maxReceivesPerSecond: 4, consumer: settings } });
  const times = timesOf(world);
  await world.sendAndPass("orders", bodies(10), 60_000);
  expect(bodiesOf(world.seen).map((batch) => batch.length)).toEqual([4, 4, 2]);
  expect(times).toEqual([0, 0, 0, 0, 1_000, 1_000, 1_000, 1_000, 2_000, 2_000]);
  expect(mostInASecond(times)).toBe(4);
});

it("max_receives_per_second makes a batch smaller that comes within a second of others", async () => {
  const settings = consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 0 });
  const world = new World({ orders: { maxReceivesPerSecond: 4, consumer: settings } });
  const times = timesOf(world);
  await world.sendAndPass("orders", ["a"], 100);
  await world.sendAndPass("orders", bodies(9), 60_000);
  expect(mostInASecond(times)).toBe(4);
  expect(times).toEqual([0, 250, 250, 250, 1_000, 1_250, 1_250, 1_250, 2_000, 2_250]);
});

it("max_receives_per_second holds over a crash", async () => {
  const settings = consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 0 });
  const world = new World({ orders: { maxReceivesPerSecond: 4, consumer: settings } });
  const times = timesOf(world);
  await world.send("orders", bodies(20));
  for (let i = 0; i < 20; i++) {
    await world.pass(310);
    world.restart("orders");
  }
  await world.pass(60_000);
  expect(times.length).toBeGreaterThanOrEqual(20);
  expect(mostInASecond(times)).toBeLessThanOrEqual(4);
});

it("max_receives_per_second can be raised, lowered and taken away while messages wait", async () => {
  const world = new World({ orders: { maxReceivesPerSecond: 1, consumer: endpoint() } });
  const limit = (maxReceivesPerSecond?: number) => {
    const { maxReceivesPerSecond: _, ...definition } = world.queues.orders ?? {};
    const changed = maxReceivesPerSecond === undefined ? definition : { ...definition, maxReceivesPerSecond };
    return world.core("orders").reconfigure(
      () => Object.assign(world.queues, { orders: changed }),
      () => {},
    );
  };
  await world.sendAndPass("orders", bodies(50), 2_000);
  expect(world.posts).toHaveLength(3);
  await limit(10);
  await world.pass(1_000);
  expect(world.posts).toHaveLength(13);
  await limit(1);
  await world.pass(2_000);
  expect(world.posts).toHaveLength(15);
  await limit();
  await world.pass(0);
  expect(world.posts).toHaveLength(50);
});

it("max_receives_per_second holds for clients that pull", async () => {
  const world = new World({ orders: { maxReceivesPerSecond: 4, consumer: pullConsumer() } });
  await world.send("orders", bodies(10));
  const pulled: number[] = [];
  for (let tenth = 0; tenth <= 30; tenth++) {
    const reply = await world.core("orders").pull({ max: 100 });
    if (reply.ok && reply.batch.leaseIds.length > 0) pulled.push(tenth, reply.batch.leaseIds.length);
    await world.pass(100);
  }
  expect(pulled).toEqual([0, 4, 10, 4, 20, 2]);
});

it("max_receives_per_second holds for clients that receive, who wait for their turn", async () => {
  const world = new World({ orders: { maxReceivesPerSecond: 2 } });
  await world.send("orders", bodies(6));
  const beganMs = world.nowMs;
  const received: [atMs: number, count: number][] = [];
  const receive = async (max: number) => {
    const reply = await world.core("orders").receivers.receive({ max, waitMs: 20_000 });
    if (reply.kind === "received") received.push([world.nowMs - beganMs, reply.receipts.length]);
  };
  const all = [receive(1), receive(10), receive(1), receive(10)];
  await world.pass(20_000);
  await Promise.all(all);
  expect(received).toEqual([
    [0, 1],
    [500, 1],
    [1_000, 1],
    [1_500, 1],
  ]);
});

it("max_receives_per_second leaves a queue without it as fast as it was", async () => {
  const world = new World({ orders: { consumer: endpoint() } });
  await world.sendAndPass("orders", bodies(50));
  expect(world.posts).toHaveLength(50);
});

it("counts what an epoch before may have delivered, which is not known, for a second", () => {
  const context = { nowMs: 5_000, definition: definition({ maxReceivesPerSecond: 2 }) };
  const inSecondAt = (throttle: Throttle, nowMs: number) => {
    context.nowMs = nowMs;
    return throttle.inSecond;
  };
  const first = new Throttle(context, false);
  const again = new Throttle(context, true);
  expect([inSecondAt(first, 5_000), inSecondAt(again, 5_000)]).toEqual([0, Number.POSITIVE_INFINITY]);
  expect([inSecondAt(again, 5_999), inSecondAt(again, 6_000)]).toEqual([Number.POSITIVE_INFINITY, 0]);
  context.definition = definition();
  expect(inSecondAt(again, 5_000)).toBe(0);
});

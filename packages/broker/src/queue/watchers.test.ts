import type { WatchReply } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { WATCHED_EVENTS_MAX, WATCHERS_MAX } from "./watchers.ts";

const SINGLE = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };

function worldOf(queues: ConstructorParameters<typeof World>[0]): World {
  const world = new World(queues);
  world.keepsHistory = true;
  return world;
}

const first = (world: World) => world.core("orders").watchers.watch({ after: null, state: null });
const next = (world: World, { last: after, state }: WatchReply) =>
  world.core("orders").watchers.watch({ after, state });

describe("who watches a queue", () => {
  it("is answered at once for the first time, and then when something has happened", async () => {
    const world = worldOf({ orders: {} });
    const reply = await first(world);
    expect(reply).toMatchObject({ events: [], isGap: false, figures: { ready: 0, totals: {}, isOn: true } });
    let later: WatchReply | null = null;
    void next(world, reply).then((answer) => {
      later = answer;
    });
    await world.core("orders").wake();
    await world.quiet();
    expect(later).toBeNull();
    await world.send("orders", ["a", "b"]);
    await world.quiet();
    expect(later).toMatchObject({
      events: [{ kind: "accepted", messages: 2 }],
      figures: { ready: 2, totals: { accepted: 2 } },
    });
  });

  it("hears of nothing that is not durable", async () => {
    const world = worldOf({ orders: {} });
    const reply = await first(world);
    let isAnswered = false;
    void next(world, reply).then(() => {
      isAnswered = true;
    });
    world.store("orders").hold();
    const sent = world.send("orders", ["a"]);
    await world.quiet();
    expect(isAnswered).toBe(false);
    world.store("orders").release();
    await sent;
    await world.quiet();
    expect(isAnswered).toBe(true);
  });

  it("is told each event once, with how long deliveries took, and whether there were too many", async () => {
    const world = worldOf({ orders: { consumer: consumer(SINGLE) } });
    let reply = await first(world);
    const kinds: string[] = [];
    for (let i = 0; i < 3; i++) {
      await world.send("orders", ["a"]);
      await world.quiet();
      reply = await next(world, reply);
      kinds.push(...reply.events.map(({ kind }) => kind));
    }
    expect(kinds).toEqual(Array(3).fill(["accepted", "delivered", "acked"]).flat());
    expect(reply.figures.tookMs[0]).toBe(3);
    for (let i = 0; i <= WATCHED_EVENTS_MAX / 3; i++) await world.send("orders", ["a"]);
    await world.quiet();
    const late = await next(world, reply);
    expect(late.isGap).toBe(true);
    expect(late.events).toHaveLength(WATCHED_EVENTS_MAX);
    expect(late.events.at(-1)?.number).toBe(late.last);
  });

  it("goes on where it was after a restart of the queue", async () => {
    const world = worldOf({ orders: {} });
    const reply = await first(world);
    await world.send("orders", ["a"]);
    world.crash("orders");
    await world.send("orders", ["b"]);
    expect((await next(world, reply)).events.map(({ kind }) => kind)).toEqual(["accepted", "accepted"]);
  });

  it("is rejected when the queue ends", async () => {
    const world = worldOf({ orders: {} });
    const waiting = next(world, await first(world));
    world.core("orders").end(new Error("it is deleted"));
    await expect(waiting).rejects.toThrow("it is deleted");
  });

  it("is answered as it stands when too many others wait", async () => {
    const world = worldOf({ orders: {} });
    const reply = await first(world);
    const longest = next(world, reply);
    for (let i = 0; i < WATCHERS_MAX; i++) void next(world, reply);
    expect(await longest).toEqual(reply);
  });

  it("is told how many wait where no history is kept", async () => {
    const world = new World({ orders: {} });
    const reply = await first(world);
    const waiting = next(world, reply);
    await world.send("orders", ["a"]);
    expect(await waiting).toMatchObject({ events: [], figures: { ready: 1, isOn: false, totals: {} } });
  });
});

it("who waits until nothing is under way is answered at once where nothing is, else when the last delivery has ended", async () => {
  const world = worldOf({ orders: { consumer: consumer(SINGLE) } });
  const { watchers } = world.core("orders");
  await watchers.idle();
  const handled = Promise.withResolvers<void>();
  world.handler = async () => {
    await handled.promise;
    return {};
  };
  await world.send("orders", ["a"]);
  await world.quiet();
  let isAnswered = false;
  const idle = watchers.idle().then(() => {
    isAnswered = true;
  });
  await world.quiet();
  expect([isAnswered, watchers.isIdleAwaited]).toEqual([false, true]);
  handled.resolve();
  // Nobody moves the clock: what is acknowledged is committed at once, and does not linger.
  await idle;
  expect(watchers.isIdleAwaited).toBe(false);
  expect(world.core("orders").metrics().backlogCount).toBe(0);
});

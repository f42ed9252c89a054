import type { QueueDefinition } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, endpoint, pullConsumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { QUIET_FLUSH_DEPLOYED_MS } from "../history/quiet-flush.ts";
import { LINGER_MS, LINGER_MS_MAX } from "../turn/group-commit.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";

/** A queue where rows are billed. */
function billed(
  settings: Parameters<typeof consumer>[0] = {},
  definition: Partial<QueueDefinition> = {},
): World {
  const all = { maxBatchSize: 10, maxBatchTimeoutSeconds: 0, ...settings };
  const world = new World({ orders: { consumer: consumer(all), ...definition } });
  world.sharesCommits = true;
  world.isBilled = true;
  return world;
}

const rows = (world: World) => world.store("orders").rowsWritten;
const alarms = (world: World) => world.alarmsWritten;
const attempts = (world: World) => world.seen.map(({ messages }) => messages[0]?.attempts);

describe("a settlement where rows are billed", () => {
  it("waits for the next send, beyond the linger, and takes no row of its own", async () => {
    const world = billed();
    await world.sendAndPass("orders", ["a"], HEARTBEAT_MS - 1);
    const before = rows(world);
    await world.send("orders", ["b"]);
    expect([world.handled, rows(world) - before]).toEqual([[["orders", 1, 1]], 1]);
  });

  it("is made when the alarm rings that the delivery has set, which is not set again", async () => {
    const world = billed();
    await world.sendAndPass("orders", ["a"], HEARTBEAT_MS - 1);
    expect(world.handled).toEqual([]);
    await world.pass(1);
    expect([world.handled, world.alarmIn("orders")]).toEqual([[["orders", 1, 1]], null]);
    await world.pass(60_000);
    expect(alarms(world)).toBe(1);
  });

  it("does not count as time awake while it waits", async () => {
    const world = billed();
    await world.sendAndPass("orders", ["a"], HEARTBEAT_MS - 1);
    expect(world.awake.get("orders")?.totalMs).toBe(0);
  });

  it("of a last attempt waits no longer than the linger: a crash would dead-letter its messages", async () => {
    const world = billed({ maxRetries: 0 });
    await world.sendAndPass("orders", ["a"], LINGER_MS);
    expect(world.handled).toEqual([["orders", 1, 1]]);
  });

  it("is made at once when somebody asks what is in delivery", async () => {
    const world = billed();
    await world.sendAndPass("orders", ["a"], 2 * LINGER_MS_MAX);
    await world.core("orders").caughtUp();
    expect(world.handled).toEqual([["orders", 1, 1]]);
  });

  it("waits no longer than the linger while a call waits for something to happen", async () => {
    const world = billed();
    world.handler = async () => {
      const { watchers } = world.core("orders");
      const { state } = await watchers.watch({ state: "", after: null });
      void watchers.watch({ state, after: null });
      return {};
    };
    await world.sendAndPass("orders", ["a"], LINGER_MS);
    expect(world.handled).toEqual([["orders", 1, 1]]);
  });

  it("that a crash takes is made again: the message comes twice", async () => {
    const world = billed();
    await world.sendAndPass("orders", ["a"], HEARTBEAT_MS - 1);
    world.crash("orders");
    await world.pass(HEARTBEAT_MS);
    expect(attempts(world)).toEqual([1, 2]);
  });
});

describe("an alarm that rings where rows are billed", () => {
  it("stays for the delivery that it begins, and none is set for that", async () => {
    const world = billed({ maxBatchTimeoutSeconds: 5 });
    await world.sendAndPass("orders", ["a"], 5_000 + LINGER_MS_MAX);
    expect([world.handled, alarms(world)]).toEqual([[["orders", 1, 1]], 1]);
  });

  it("rings again after a crash during the delivery", async () => {
    const world = billed({ maxBatchTimeoutSeconds: 5 });
    world.handler = () => new Promise(() => {});
    await world.sendAndPass("orders", ["a"], 5_000);
    world.crash("orders");
    world.handler = () => ({});
    await world.pass(HEARTBEAT_MS + 5_000);
    expect(attempts(world)).toEqual([1, 2]);
  });

  it.each([
    [HEARTBEAT_MS - 1, 1],
    [HEARTBEAT_MS, 2],
    [HEARTBEAT_MS + 1, 2],
  ])("is followed by another when a delivery takes long: %i ms later %i are set", async (ms, set) => {
    const world = billed({ maxBatchTimeoutSeconds: 5 });
    world.handler = () => new Promise(() => {});
    await world.sendAndPass("orders", ["a"], 5_000 + ms);
    expect(alarms(world)).toBe(set);
    world.crash("orders");
    world.handler = () => ({});
    await world.pass(2 * HEARTBEAT_MS + 5_000);
    expect(attempts(world)).toEqual([1, 2]);
  });

  it("ends for what is due next while a delivery takes long", async () => {
    const world = billed({}, { consumer: endpoint({ maxConcurrency: 2 }) });
    world.answer = () => new Promise(() => {});
    await world.sendAndPass("orders", ["a"], 10_000, { delaySeconds: 10 });
    expect(world.posts).toHaveLength(1);
    await world.sendAndPass("orders", ["b"], 999, { delaySeconds: 1 });
    expect(world.posts).toHaveLength(1);
    await world.pass(1);
    expect(world.posts).toHaveLength(2);
  });

  it("sets what is due soon meanwhile, and what is due later when it ends", async () => {
    const world = billed({ maxBatchTimeoutSeconds: 3, maxConcurrency: 1 });
    const handled = Promise.withResolvers<object>();
    world.handler = () => handled.promise;
    await world.sendAndPass("orders", ["a"], 3_000);
    await world.send("orders", ["later"], { delaySeconds: 3_600 });
    await world.quiet();
    expect(alarms(world)).toBe(1);
    handled.resolve({});
    await world.pass(LINGER_MS_MAX);
    expect(world.alarmIn("orders")).toBe(3_603_000 - LINGER_MS_MAX);
  });
});

describe("a history where rows are billed", () => {
  const kept = { historySeconds: 3_600 };
  const eventsAfterCrash = (world: World) => {
    world.restart("orders");
    return world
      .core("orders")
      .history.list({ max: 10 })
      .events.map(({ kind }) => kind);
  };

  it("is written with the settlement that leaves the queue empty, and sets no alarm", async () => {
    const world = billed({}, kept);
    await world.sendAndPass("orders", ["a"], HEARTBEAT_MS);
    expect(alarms(world)).toBe(1);
    expect(eventsAfterCrash(world)).toEqual(["acked", "delivered", "accepted"]);
  });

  it.each([
    [QUIET_FLUSH_DEPLOYED_MS - 1, 0],
    [QUIET_FLUSH_DEPLOYED_MS, 1],
    [QUIET_FLUSH_DEPLOYED_MS + 1, 1],
  ])(
    "of a queue whose messages wait is written when its alarm rings: after %i ms %i events are",
    async (ms, written) => {
      const world = billed({}, { ...kept, consumer: pullConsumer() });
      await world.sendAndPass("orders", ["a"], ms);
      expect(eventsAfterCrash(world)).toHaveLength(written);
    },
  );

  it("is written no more often than that, however often the queue becomes empty", async () => {
    const world = billed({}, { ...kept, consumer: pullConsumer() });
    const before = rows(world);
    for (let i = 0; i < 4; i++) {
      await world.sendAndPass("orders", ["a"]);
      await world.core("orders").purge();
      await world.pass(1);
    }
    const soon = rows(world) - before;
    await world.pass(QUIET_FLUSH_DEPLOYED_MS);
    expect(rows(world) - before - soon).toBeLessThanOrEqual(2);
  });
});

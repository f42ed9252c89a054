import { ALERTS_QUEUE, type QueueDefinition, type ShardMap, shardName } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { packToSend } from "../../test/sqs-world.ts";
import type { World } from "../../test/world.ts";
import { worldWithAlerts } from "../../test/world-alerts.ts";
import { passSource } from "../shards/passed-on.ts";
import { SHARD_DELIVERIES_MS } from "./alerts.ts";

const MAP: ShardMap = { epoch: 20, open: 3, kept: 3 };
const MINUTE_MS = 60_000;
const failing = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxRetries: 0 };

/** A queue of three shards, with alerts in Slack's form, which is unsigned. */
function sharded(
  queue: Partial<QueueDefinition>,
  alerts: Parameters<typeof worldWithAlerts>[1],
  queues: Record<string, Partial<QueueDefinition>> = {},
): World {
  const world = worldWithAlerts({ orders: queue, ...queues }, { format: "slack", ...alerts });
  goTo(world, MAP);
  return world;
}

function goTo(world: World, map: ShardMap): void {
  for (let shard = 0; shard < map.kept; shard++) world.maps.set(shardName("orders", shard), map);
}

const texts = (world: World) =>
  world.posts.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).text as string);

/** Lists the beginnings and ends that the webhook was told of, in their order. */
const told = (world: World) => texts(world).map((text) => (text.startsWith(":red") ? "begun" : "ended"));

let nextId = 1;

/** Passes a dead letter on to a shard. */
async function deadLetter(world: World, shard: number): Promise<void> {
  const packed = packToSend([{ body: "x", deadLetterOf: "carts" }]);
  const source = passSource("carts", "orders");
  await world.core(shardName("orders", shard)).inbox.accept({ source, id: nextId++, packed, more: [] });
}

describe("the alert of dead letters in shards", () => {
  it("that ends and begins anew during a silence is told after it, also where it began elsewhere", async () => {
    const world = sharded({}, { deadLetters: true });
    await deadLetter(world, 1);
    await world.pass(1_000);
    expect(told(world)).toEqual(["begun"]);
    const until = (ms: number) =>
      world.core("orders").reconfigure(
        () => {
          world.queues.orders = { ...world.queues.orders, alertsSilentUntilMs: ms } as QueueDefinition;
        },
        () => {},
      );
    await until(world.nowMs + 60 * MINUTE_MS);
    await world.core("orders#1").purge();
    await world.pass(MINUTE_MS);
    await deadLetter(world, 2);
    await world.pass(MINUTE_MS);
    const [alert] = world.core("orders").describe().alerts ?? [];
    expect(alert).toMatchObject({ isReported: false });
    expect(alert?.sinceMs).toBeGreaterThan(world.nowMs - 2 * MINUTE_MS);
    expect(told(world)).toEqual(["begun"]);
    await world.pass(60 * MINUTE_MS);
    expect(told(world)).toEqual(["begun", "ended", "begun"]);
    expect(world.core("orders").describe().alerts).toMatchObject([{ isReported: true }]);
  });

  it("begins with the first one in any of them, and ends when all of them are empty", async () => {
    const world = sharded({}, { deadLetters: true });
    for (const shard of [2, 1, 0, 2]) {
      await deadLetter(world, shard);
      await world.pass(1_000);
    }
    expect(texts(world)).toEqual([
      ':red_circle: *orders*: the first dead letter has come, from queue "carts"',
    ]);
    const listed = world.core("orders").describe().alerts;
    expect(listed).toMatchObject([{ kind: "dead_letters", isReported: true }]);
    expect(world.core("orders#2").describe().alerts).toBeUndefined();
    for (const shard of [2, 0, 1]) {
      expect(told(world)).toEqual(["begun"]);
      expect(world.core("orders").describe().alerts).toEqual(listed);
      await world.core(shardName("orders", shard)).purge();
      await world.pass(1_000);
    }
    expect(told(world)).toEqual(["begun", "ended"]);
    expect(world.core("orders").describe().alerts).toBeUndefined();
  });

  it("keeps the alert of an old message from all of them", async () => {
    const world = sharded({}, { deadLetters: true, oldestMessageSeconds: 60 });
    await world.send("orders#1", ["a"]);
    await deadLetter(world, 2);
    await world.pass(10 * MINUTE_MS);
    expect(told(world)).toEqual(["begun"]);
  });

  it("waits for the end of a silence of the queue", async () => {
    const world = sharded({ alertsSilentUntilMs: 0 }, { deadLetters: true });
    world.queues.orders = {
      ...world.queues.orders,
      alertsSilentUntilMs: world.nowMs + MINUTE_MS,
    } as QueueDefinition;
    await deadLetter(world, 2);
    await world.pass(MINUTE_MS - 1);
    expect(world.posts).toEqual([]);
    expect(world.core("orders").describe().alerts).toMatchObject([{ isReported: false }]);
    await world.pass(1);
    expect(told(world)).toEqual(["begun"]);
  });

  it("goes with a shard that is gone", async () => {
    const world = sharded({ consumer: consumer(failing) }, { failures: { share: 0.5, deliveries: 2 } });
    world.handler = () => ({ outcome: "exception" });
    for (let i = 0; i < 2; i++) await world.send("orders#2", ["a"]);
    await world.pass(1_000);
    expect(told(world)).toEqual(["begun"]);
    goTo(world, { epoch: 30, open: 2, kept: 2 });
    await world.core("orders").wake();
    await world.pass(1_000);
    expect(told(world)).toEqual(["begun", "ended"]);
  });
});

describe("the alert of failures in shards", () => {
  const half = { failures: { share: 0.5, deliveries: 2 } };

  async function deliver(world: World, shard: number, outcome: "ok" | "exception"): Promise<void> {
    world.handler = () => ({ outcome });
    await world.sendAndPass(shardName("orders", shard), ["a"]);
  }

  it("begins with the first shard that fails, names it, and ends with the last", async () => {
    const world = sharded({ consumer: consumer(failing) }, half);
    for (const shard of [1, 1, 2, 2, 0, 0]) await deliver(world, shard, "exception");
    expect(texts(world)).toEqual([
      ":red_circle: *orders*: 2 of the last 2 deliveries of shard 1 failed, the latest: exception",
    ]);
    for (const shard of [0, 0, 1, 1]) await deliver(world, shard, "ok");
    expect(told(world)).toEqual(["begun"]);
    await deliver(world, 2, "ok");
    await deliver(world, 2, "ok");
    expect(told(world)).toEqual(["begun", "ended"]);
  });

  it.each([false, true])(
    "ends in a shard that delivers nothing any more, restarted: %s",
    async (restarts) => {
      const world = sharded({ consumer: consumer(failing) }, half);
      for (let i = 0; i < 2; i++) await deliver(world, 1, "exception");
      if (restarts) world.restart("orders#1");
      await world.pass(SHARD_DELIVERIES_MS - 1);
      expect(told(world)).toEqual(["begun"]);
      await world.pass(1);
      expect(told(world)).toEqual(["begun", "ended"]);
      await deliver(world, 1, "exception");
      expect(told(world)).toEqual(["begun", "ended"]);
    },
  );
});

describe("the alert of shards that stand still", () => {
  it("begins once, names the first, and ends when none does", async () => {
    const world = sharded({ consumer: consumer() }, { stalledSeconds: 300 });
    world.running = false;
    for (const shard of [2, 1, 0]) await world.sendAndPass(shardName("orders", shard), ["a"], 20_000);
    await world.pass(10 * MINUTE_MS);
    expect(texts(world)).toEqual([
      expect.stringMatching(/^:red_circle: \*orders\*: nothing of shard 2 has been delivered since 2023/),
    ]);
    world.running = true;
    await world.pass(MINUTE_MS);
    expect(told(world)).toEqual(["begun", "ended"]);
  });

  const LIMITS: [limit: string, queue: Partial<QueueDefinition>][] = [
    ["max_concurrency", { consumer: consumer({ ...failing, maxConcurrency: 1 }) }],
    ["max_receives_per_second", { consumer: consumer(failing), maxReceivesPerSecond: 1 }],
  ];

  /** Shard 1 of a queue with a limit. @param lent how much of it shard 0 leaves to it. */
  function waiting(queue: Partial<QueueDefinition>, lent: () => number): World {
    const world = worldWithAlerts({ orders: queue }, { format: "slack", stalledSeconds: 60 });
    world.shardPortsOf = (name) => ({
      index: () => (name === "orders#1" ? 1 : null),
      lend: async () => {
        const part = { units: lent(), expiresInMs: 2_000 };
        const isPerSecond = queue.maxReceivesPerSecond !== undefined;
        return { lender: 1, deliveries: isPerSecond ? null : part, messages: isPerSecond ? part : null };
      },
      now: () => world.nowMs,
    });
    goTo(world, MAP);
    return world;
  }

  it.each(LIMITS)("is none of a shard that waits for its turn: %s", async (_, queue) => {
    const world = waiting(queue, () => 0);
    await world.sendAndPass("orders#1", ["a"], 10 * MINUTE_MS);
    expect(world.posts).toEqual([]);
  });

  it.each(LIMITS)(
    "begins in a shard without a part whose consumer is away, not with its waiting: %s",
    async (_, queue) => {
      let lent = 0;
      const world = waiting(queue, () => lent);
      await world.sendAndPass("orders#1", ["a"], 10 * MINUTE_MS);
      world.running = false;
      lent = 1;
      await world.pass(MINUTE_MS - 1_000);
      expect(told(world)).toEqual([]);
      await world.pass(MINUTE_MS);
      expect(told(world)).toEqual(["begun"]);
      world.running = true;
      await world.pass(MINUTE_MS);
      expect(told(world)).toEqual(["begun", "ended"]);
    },
  );

  it.each(LIMITS)("goes on over a restart, though the shard waits for a part first: %s", async (_, queue) => {
    const world = waiting(queue, () => 1);
    world.running = false;
    await world.sendAndPass("orders#1", ["a"], 30_000);
    for (let i = 0; i < 3; i++) {
      world.restart("orders#1");
      await world.pass(20_000);
    }
    expect(told(world)).toEqual(["begun"]);
    world.restart("orders#1");
    await world.pass(10 * MINUTE_MS);
    expect(told(world)).toEqual(["begun"]);
  });
});

it("an alert of shards is told by turns, over crashes and lost answers, and what was told last is so", async () => {
  const shard = fc.nat(2);
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom("letter", "purge", "crash"), shard }),
    fc.record({ kind: fc.constantFrom("lose", "wait", "crash alerts"), shard: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = sharded({}, { deadLetters: true });
      let lost = 0;
      world.carry = async (_target, _transfer, deliver) => {
        const reply = await deliver();
        if (lost === 0) return reply;
        lost -= 1;
        throw new Error("the answer is lost");
      };
      const holds = [0, 0, 0];
      for (const { kind, shard } of steps) {
        const name = shardName("orders", shard);
        if (kind === "letter") await deadLetter(world, shard);
        else if (kind === "purge") await world.core(name).purge();
        else if (kind === "crash") world.crash(name);
        else if (kind === "crash alerts") world.crash(ALERTS_QUEUE);
        else if (kind === "lose") lost += 1;
        else await world.pass(5_000);
        if (kind === "letter") holds[shard] = 1;
        if (kind === "purge") holds[shard] = 0;
      }
      for (const name of ["orders", "orders#1", "orders#2", ALERTS_QUEUE]) world.core(name);
      await world.pass(60 * MINUTE_MS);
      // A request may come twice if its answer was lost: it is known by its id.
      const seen = new Set<string>();
      const reports = told(world).filter((_, i) => {
        const id = world.posts[i]?.headers["sluice-message-id"] ?? "";
        return !seen.has(id) && seen.add(id);
      });
      expect(reports).toEqual(reports.map((_, i) => (i % 2 === 0 ? "begun" : "ended")));
      expect(reports.at(-1) === "begun").toBe(holds.includes(1));
    }),
    { numRuns: 60 },
  );
}, 60_000);

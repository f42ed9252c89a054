import { type ConsumerDefinition, type QueueDefinition, shardName, shardOf } from "@sluice/protocol";
import { expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { Lender } from "../shards/lender.ts";
import { limitsOf } from "../shards/limits.ts";
import { CLIENT_WAIT_MS } from "./queue-part.ts";

/** The shards of `orders`, each a queue of this world. */
function worldOf(shards: number, definition: Partial<QueueDefinition>) {
  const names = Array.from({ length: shards }, (_, shard) => shardName("orders", shard));
  const world = new World(Object.fromEntries(names.map((name) => [name, definition])));
  const state = { isAway: false, asked: 0, isWhole: false };
  const lender = new Lender({
    now: () => world.nowMs,
    limits: () => limitsOf(world.queues.orders),
    others: () => names.slice(1).map((_, i) => i + 1),
    emptyAsOf: () => 0,
    partOf: async (shard, lender) => {
      const { part } = world.core(shardName("orders", shard));
      if (part === null) throw new Error("no part");
      return part.tell(lender);
    },
  });
  world.shardPortsOf = (name) => ({
    index: () => (state.isWhole ? null : shardOf(name).shard),
    lend: async (request) => {
      state.asked += 1;
      if (state.isAway) throw new Error("shard 0 is away");
      return lender.lend(request);
    },
    now: () => world.nowMs,
  });
  return { world, names, state };
}

const pullConsumer: ConsumerDefinition = {
  type: "http_pull",
  settings: {
    maxBatchSize: 10,
    maxRetries: 3,
    retryDelaySeconds: 0,
    deadLetterQueue: null,
    visibilityTimeoutMs: 600_000,
  },
};

const singles = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };

it("max_concurrency is that of all shards together, and each gets its turn", async () => {
  const { world, names } = worldOf(4, { consumer: consumer({ ...singles, maxConcurrency: 2 }) });
  let running = 0;
  let most = 0;
  const finish: (() => void)[] = [];
  const handled = new Map<string, number>();
  world.handler = async (batch) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => finish.push(resolve));
    running -= 1;
    const from = batch.messages[0]?.body ?? "";
    handled.set(from, (handled.get(from) ?? 0) + 1);
    return {};
  };
  for (const name of names) await world.send(name, Array<string>(200).fill(name));
  for (let i = 0; i < 400; i++) {
    await world.pass(100);
    for (const end of finish.splice(0)) end();
    await world.quiet();
  }
  expect(most).toBe(2);
  for (const name of names) expect(handled.get(name)).toBeGreaterThan(60);
});

it("max_receives_per_second is that of all shards together, in any second", async () => {
  const { world, names } = worldOf(4, { consumer: consumer(singles), maxReceivesPerSecond: 3 });
  const atMs: number[] = [];
  world.handler = () => {
    atMs.push(world.nowMs);
    return {};
  };
  for (const name of names) await world.send(name, Array<string>(100).fill(name));
  await world.pass(60_000);
  for (const [i, at] of atMs.entries()) expect((atMs[i + 3] ?? Infinity) - at).toBeGreaterThanOrEqual(1_000);
  expect(atMs.length).toBeGreaterThan(80);
});

it("what a shard that goes has delivered counts for its second, and shard 0 has all of the next one", async () => {
  const { world, state } = worldOf(2, { consumer: consumer(singles), maxReceivesPerSecond: 2 });
  const atMs: number[] = [];
  world.handler = () => {
    atMs.push(world.nowMs);
    return {};
  };
  await world.send("orders#1", ["a"]);
  while (atMs.length === 0) await world.pass(10);
  await world.core("orders").reconfigure(
    () => {
      state.isWhole = true;
    },
    () => {},
  );
  await world.send("orders", Array<string>(20).fill("b"));
  await world.pass(5_000);
  for (const [i, at] of atMs.entries()) expect((atMs[i + 2] ?? Infinity) - at).toBeGreaterThanOrEqual(1_000);
  expect(atMs.length).toBeGreaterThan(7);
});

it("what a queue has delivered counts for its second when it gets more shards", async () => {
  const { world, state } = worldOf(2, { consumer: consumer(singles), maxReceivesPerSecond: 2 });
  const atMs: number[] = [];
  world.handler = () => {
    atMs.push(world.nowMs);
    return {};
  };
  state.isWhole = true;
  await world.send("orders", ["a"]);
  await world.pass(5_000);
  await world.send("orders", ["a", "a"]);
  await world.pass(510);
  expect(atMs).toHaveLength(3);
  await world.core("orders").reconfigure(
    () => {
      state.isWhole = false;
    },
    () => {},
  );
  await world.send("orders#1", Array<string>(20).fill("b"));
  await world.pass(5_000);
  for (const [i, at] of atMs.entries()) expect((atMs[i + 2] ?? Infinity) - at).toBeGreaterThanOrEqual(1_000);
  expect(atMs.length).toBeGreaterThan(6);
});

it("a queue that has ended asks for no part, though deliveries of it still run", async () => {
  const { world, state } = worldOf(2, { consumer: consumer({ ...singles, maxConcurrency: 1 }) });
  world.handler = () => new Promise(() => {});
  await world.sendAndPass("orders#1", ["a", "b"], 1);
  world.core("orders#1").end(new Error("its queue is deleted"));
  state.asked = 0;
  await world.pass(60_000);
  expect(state.asked).toBe(0);
});

it("a shard goes on with its part while shard 0 is away, and then begins nothing until it is back", async () => {
  const { world, state } = worldOf(2, { consumer: consumer({ ...singles, maxConcurrency: 4 }) });
  await world.sendAndPass("orders#1", ["a"], 1);
  expect(world.seen).toHaveLength(1);
  state.isAway = true;
  await world.sendAndPass("orders#1", ["b"], 1);
  expect(world.seen).toHaveLength(2);
  await world.pass(20_000);
  await world.sendAndPass("orders#1", ["c"], 20_000);
  expect(world.seen).toHaveLength(2);
  expect(world.core("orders#1").messages.why()).toMatchObject({
    reason: "concurrency",
    text: expect.stringContaining("Other objects of the queue"),
  });
  expect(world.alarmIn("orders#1")).toBeLessThanOrEqual(5_000);
  state.isAway = false;
  await world.pass(1_000);
  expect(world.seen).toHaveLength(3);
});

it("a queue without limits, and one that has no other shard, asks nobody", async () => {
  const { world, state } = worldOf(2, { consumer: consumer(singles) });
  state.isAway = true;
  await world.sendAndPass("orders#1", ["a"], 1);
  expect(world.seen).toHaveLength(1);
  const alone = worldOf(2, { consumer: consumer({ ...singles, maxConcurrency: 1 }) });
  alone.state.isAway = true;
  const { shardPortsOf } = alone.world;
  alone.world.shardPortsOf = (name) => {
    const ports = shardPortsOf(name);
    return ports && { ...ports, index: () => null };
  };
  await alone.world.sendAndPass("orders", ["a"], 1);
  expect(alone.world.seen).toHaveLength(1);
});

it.each([
  { consumer: consumer({ ...singles, maxConcurrency: 1 }) },
  { consumer: consumer({ ...singles, maxConcurrency: 1 }), maxReceivesPerSecond: 2 },
  { consumer: consumer(singles), maxReceivesPerSecond: 2 },
])(
  "a message with a delay comes when that is over, though its shard has no part by then",
  async (limited) => {
    const { world } = worldOf(2, limited);
    await world.send("orders#1", ["a"], { delaySeconds: 300 });
    await world.pass(299_000);
    expect(world.seen).toEqual([]);
    await world.pass(2_000);
    expect(world.seen).toHaveLength(1);
  },
);

it("a client that asks now and then gets messages, though its shard has given its part back", async () => {
  const { world } = worldOf(2, { consumer: pullConsumer, maxReceivesPerSecond: 2 });
  await world.send("orders#1", Array<string>(20).fill("a"));
  for (let i = 0; i < 4; i++) {
    await world.pass(20_000);
    const reply = await world.core("orders#1").pull({ max: 10 });
    expect(reply.ok && reply.batch.leaseIds.length).toBe(2);
    await world.pass(20_000);
    const { received } = await world.core("orders#1").work({ receive: [{ max: 10 }] });
    expect(received).toMatchObject([{ kind: "received" }]);
  }
});

it("a client that waits gets what comes late in its wait", async () => {
  const { world } = worldOf(2, { consumer: pullConsumer, maxReceivesPerSecond: 2 });
  let reply: unknown = null;
  void world
    .core("orders#1")
    .receivers.receive({ max: 10, waitMs: 20_000 })
    .then((received) => {
      reply = received;
    });
  await world.pass(10_000);
  await world.sendAndPass("orders#1", ["a"], 2_000);
  expect(reply).toMatchObject({ kind: "received" });
});

it("a client does not wait for long where shard 0 is away", async () => {
  const { world, state } = worldOf(2, { consumer: pullConsumer, maxReceivesPerSecond: 2 });
  state.isAway = true;
  await world.send("orders#1", ["a"]);
  let reply: unknown = null;
  void world
    .core("orders#1")
    .pull({ max: 10 })
    .then((batch) => {
      reply = batch;
    });
  await world.pass(CLIENT_WAIT_MS);
  await world.quiet();
  expect(reply).toMatchObject({ ok: true, batch: { leaseIds: [] } });
});

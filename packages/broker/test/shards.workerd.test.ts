import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  ALERTS_QUEUE,
  type DirectoryReply,
  mapInError,
  type NewMove,
  type QueueReceiveRpc,
  type QueueRecord,
  readShardMap,
  type ShardMap,
  shardAddress,
  shardName,
  unpackMessages,
} from "@sluice/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { passSource } from "../src/shards/passed-on.ts";
import { type BrokerHarness, folderOfTest, startBroker } from "./harness.ts";
import { consumer, packTexts, pullConsumer } from "./messages.ts";

let persistDir: string;
let broker: BrokerHarness | undefined;

beforeEach(() => {
  persistDir = folderOfTest();
});

afterEach(async () => {
  await broker?.stop();
  broker = undefined;
});

async function start(members = ""): Promise<BrokerHarness> {
  await broker?.stop();
  broker = await startBroker({ queues: {}, persistDir, members });
  return broker;
}

function recordIn(reply: DirectoryReply): QueueRecord {
  if (!reply.ok) throw new Error(`refused: ${JSON.stringify(reply.refusal)}`);
  return reply.record;
}

function mapIn({ shards }: QueueRecord): ShardMap {
  if (shards === undefined) throw new Error("there is no map");
  return shards;
}

const addressOf = (map: ShardMap, shard: number) => shardAddress("orders", shard, map.epoch);

async function sendTo(map: ShardMap, shard: number, body: string): Promise<void> {
  const stub = await (broker as BrokerHarness).queue(shardName("orders", shard));
  const reply = await stub.send(addressOf(map, shard), [{ packed: packTexts([body]) }]);
  expect(reply).toMatchObject({ ok: true });
  expect(reply).not.toHaveProperty("shards");
}

/** Pulls everything of a shard and acknowledges it. */
async function drain(map: ShardMap, shard: number): Promise<string[]> {
  const stub = await (broker as BrokerHarness).queue(shardName("orders", shard));
  const reply = await stub.pull(addressOf(map, shard), { max: 100 });
  if (!reply.ok) throw new Error(reply.reason);
  const { leaseIds, packed } = reply.batch;
  await stub.settleLeases(addressOf(map, shard), { acks: leaseIds, retries: [] });
  return unpackMessages(packed).map(({ body }) => new TextDecoder().decode(body));
}

const currentMap = async (): Promise<ShardMap> => {
  const directory = await (broker as BrokerHarness).directory();
  return mapIn((await directory.findByName("orders")) as QueueRecord);
};

it("a queue grows to four shards and shrinks to one with messages in each of them, and loses none", async () => {
  const { directory, queue } = await start();
  const created = recordIn(
    await (await directory()).createQueue({ name: "orders", consumer: pullConsumer({}) }),
  );
  const whole = await (await queue("orders")).send("orders", [{ packed: packTexts(["before"]) }]);
  expect(whole).not.toHaveProperty("shards");
  const grown = mapIn(
    recordIn(await (await directory()).changeQueue(created.queueId, { settings: { shards: 4 } })),
  );
  expect(grown).toMatchObject({ open: 4, kept: 4 });
  for (let shard = 0; shard < 4; shard++) await sendTo(grown, shard, `in ${shard}`);

  // A producer that knows no shards goes on with the first one, and hears of the others.
  const sent = await (await queue("orders")).send("orders", [{ packed: packTexts(["old"]) }]);
  expect(sent).toMatchObject({ ok: true, shards: grown });
  const posted = await (await queue("orders")).post("orders", [{ packed: packTexts(["older"]) }], "shop", 2);
  expect(readShardMap(String(posted).split(" ").slice(3).join(" "))).toEqual(grown);
  for (const [object, address] of [
    ["orders", "orders"],
    ["orders#1", "orders#1"],
    ["orders#1", shardAddress("orders", 1, grown.epoch - 1)],
  ] as const) {
    expect(mapInError(await (broker as BrokerHarness).refusal(object, "metrics", address))).toEqual(grown);
  }
  expect(await (await queue("orders#2")).describe(addressOf(grown, 2))).toMatchObject({
    queue: "orders",
    ready: 1,
  });

  const { directory: again } = await start();
  const shrinking = mapIn(
    recordIn(await (await again()).changeQueue(created.queueId, { settings: { shards: 1 } })),
  );
  expect(shrinking).toMatchObject({ open: 1, kept: 4 });
  for (const map of [grown, shrinking]) {
    const packed = [...packTexts(["late"])];
    const refusal = await (broker as BrokerHarness).refusal("orders#3", "send", addressOf(map, 3), [
      { packed },
    ]);
    expect(mapInError(refusal)).toEqual(shrinking);
  }
  await (broker as BrokerHarness).kill();
  await start();
  expect(await currentMap()).toEqual(shrinking);
  const bodies: string[] = [];
  for (const shard of [1, 3]) bodies.push(...(await drain(shrinking, shard)));
  // A directory that starts asks at once.
  await start();
  await expect.poll(currentMap).toMatchObject({ open: 1, kept: 3 });
  const draining = await currentMap();
  bodies.push(...(await drain(draining, 2)));
  await start();
  await expect.poll(currentMap).toMatchObject({ open: 1, kept: 1 });
  const last = await currentMap();
  bodies.push(...(await drain(last, 0)));
  expect(bodies.sort()).toEqual(["before", "in 0", "in 1", "in 2", "in 3", "old", "older"]);
  expect(await (broker as BrokerHarness).refusal("orders#1", "metrics", addressOf(last, 1))).toContain(
    "10104",
  );
  // It is called like a queue that never had shards.
  const reply = await (await (broker as BrokerHarness).queue("orders")).post(
    "orders",
    [{ packed: packTexts(["after"]) }],
    "shop",
    2,
  );
  expect(reply).toMatch(/^1 \d+ \d+$/);
});

it("a queue keeps the usage of shards that have gone, once, also when their numbers come again", async () => {
  const { directory, queue } = await start();
  const { queueId, ...created } = recordIn(
    await (await directory()).createQueue({
      name: "orders",
      settings: { shards: 3 },
      consumer: pullConsumer({}),
    }),
  );
  const usedBy = async (map: ShardMap, shards: number) => {
    const used = async (_: unknown, shard: number) =>
      (await (await queue(shardName("orders", shard))).describe(addressOf(map, shard))).usage?.messages ?? 0;
    return (await Promise.all(Array.from({ length: shards }, used))).reduce((sum, count) => sum + count);
  };
  const toShards = async (shards: number) => {
    await (await directory()).changeQueue(queueId, { settings: { shards } });
    // Shards are asked at once when there is another map.
    await expect.poll(currentMap).toMatchObject({ open: shards, kept: shards });
    return currentMap();
  };
  const fill = async (map: ShardMap) => {
    for (const shard of [0, 1, 2, 2]) await sendTo(map, shard, `in ${shard}`);
    for (const shard of [0, 1, 2]) await drain(map, shard);
  };
  await fill(mapIn(created as QueueRecord));
  expect(await usedBy(await toShards(1), 1)).toBe(4);
  const again = await toShards(3);
  expect(await usedBy(again, 3)).toBe(4);
  await fill(again);
  expect(await usedBy(await toShards(1), 1)).toBe(8);
});

it("shards deliver under the name of their queue, and their dead letters go back to it", async () => {
  const { directory, queue, until } = await start();
  const harness = broker as BrokerHarness;
  const dead = consumer({ maxRetries: 0, maxBatchTimeoutSeconds: 0, deadLetterQueue: "dead" });
  harness.handler = () => ({ retryBatch: { retry: true } });
  const record = recordIn(
    await (await directory()).createQueue({ name: "orders", settings: { shards: 3 }, consumer: dead }),
  );
  const map = mapIn(record);
  await sendTo(map, 2, "cursed");
  await until((seen) => seen.length > 0);
  expect(harness.seen[0]?.queue).toBe("orders");
  const deadQueue = await queue("dead");
  await expect.poll(async () => (await deadQueue.metrics("dead")).backlogCount).toBe(1);
  const { events } = await deadQueue.history("dead", { max: 10 });
  expect(events.map(({ kind, by }) => [kind, by])).toContainEqual(["arrived", "orders"]);
  harness.handler = () => ({});
  const move: NewMove = { taskId: "back", target: null, ratePerSecond: null };
  await (deadQueue as unknown as QueueReceiveRpc).startMove("dead", move);
  await until((seen) => seen.length > 1);
  expect(harness.seen[1]).toMatchObject({ queue: "orders", messages: [{ body: "cursed" }] });
});

it("dead letters fall to the shards of their queue", async () => {
  const { directory, queue } = await start();
  const harness = broker as BrokerHarness;
  const dead = consumer({
    maxRetries: 0,
    maxBatchSize: 1,
    maxBatchTimeoutSeconds: 0,
    deadLetterQueue: "dead",
  });
  harness.handler = () => ({ retryBatch: { retry: true } });
  const map = mapIn(
    recordIn(await (await directory()).createQueue({ name: "dead", settings: { shards: 3 } })),
  );
  await (await directory()).createQueue({ name: "orders", consumer: dead });
  const countOf = async (shard: number) => {
    const name = shardName("dead", shard);
    return (await (await queue(name)).metrics(shardAddress("dead", shard, map.epoch))).backlogCount;
  };
  const orders = await queue("orders");
  await expect
    .poll(async () => {
      await orders.send("orders", [{ packed: packTexts(["cursed"]) }]);
      return Math.min(...(await Promise.all([0, 1, 2].map(countOf))));
    })
    .toBeGreaterThan(0);
});

it("what a shard passes on makes no queue that was deleted", async () => {
  const { directory } = await start();
  const transfer = { source: passSource(ALERTS_QUEUE, "orders#1"), id: 1, packed: [] };
  const refusal = await (broker as BrokerHarness).refusal("orders", "take", "orders", transfer);
  expect(refusal).toContain("10104");
  expect(await (await directory()).findByName("orders")).toBeNull();
});

it("shard 0 goes by a map that it has told, also when the directory does not answer any more", async () => {
  // No notice of the map arrives: shard 0 learns it when it starts.
  const deaf = `
    async configure(queue, record) {
      if (queue === "orders" && record.shards !== undefined) throw new Error("away");
      return super.configure(queue, record);
    }
  `;
  const { directory, send } = await start(deaf);
  const created = recordIn(await (await directory()).createQueue({ name: "orders" }));
  await send("orders", ["before"]);
  const reply = await (await directory()).changeQueue(created.queueId, { settings: { shards: 3 } });
  expect(recordIn(reply)).not.toHaveProperty("shards");
  const told = await start(deaf);
  const map = mapInError(await told.refusal("orders", "metrics", "orders"));
  expect(map).toMatchObject({ open: 3, kept: 3 });
  await told.stop();
  broker = undefined;
  const files = await readdir(persistDir, { recursive: true });
  const ofDirectory = files.filter((file) => /Directory\/[0-9a-f]+\.sqlite/.test(file));
  expect(ofDirectory).not.toEqual([]);
  for (const file of ofDirectory)
    await writeFile(join(persistDir, file), "this is no database".repeat(1_000));
  const alone = await start();
  expect(mapInError(await alone.refusal("orders", "metrics", "orders"))).toEqual(map);
});

import { SHARDS_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, pullConsumer } from "../../test/messages.ts";
import { REGISTRY_START_MS, TestRegistry } from "../../test/registry.ts";
import { passInterval, ShardDirectory, withShards } from "../../test/shard-directory.ts";
import { applyTopology } from "./apply-topology.ts";
import { NOTIFY_AGAIN_MS } from "./notices.ts";
import { changeQueue, createQueue, deleteQueue, ensureQueue } from "./queues.ts";
import { ASK_SHARDS_MS } from "./shard-asks.ts";
import { shardQuestions, shardsAnswered, stepShards } from "./shards.ts";
import { statusOf } from "./status.ts";

const FIFO = { deduplicationScope: "messageGroup" } as const;

describe("a queue without shards", () => {
  it("has the same row whether it names none or one", async () => {
    const none = new ShardDirectory();
    await none.create("orders");
    const one = new ShardDirectory();
    await one.create("orders", { shards: 1 });
    await one.settle();
    const { definition, ...record } = one.registry.queue("orders")?.record ?? {};
    const { shards: _, ...settings } = definition ?? {};
    expect({ ...record, definition: settings }).toEqual(none.registry.queue("orders")?.record);
    expect(record).not.toHaveProperty("shards");
    expect([...one.registry.rows.keys()]).toEqual(["orders"]);
    expect(one.registry.queue("orders")).not.toHaveProperty("shownShards");
    expect(one.wakeAfterMs).toBeNull();
  });
});

describe("a queue with shards", () => {
  it("is created with the rows of all, and its map is answered when its objects know it", async () => {
    const directory = new ShardDirectory();
    const reply = await directory.create("orders", { shards: 4 });
    expect(reply).toMatchObject({ ok: true, record: { shards: { open: 4, kept: 4 } } });
    expect(directory.rows("orders")).toEqual(["orders", "orders#1", "orders#2", "orders#3"]);
    expect(directory.registry.list()).toHaveLength(1);
    expect(directory.registry.size).toBe(1);
    expect(
      directory.registry
        .hidden()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["orders#1", "orders#2", "orders#3"]);
    for (const name of directory.rows("orders")) {
      expect(directory.object(name).registration.record?.shards).toEqual(directory.shown("orders"));
    }
    await directory.settle();
    expect(directory.wakeAfterMs).toBeNull();
  });

  it("shows the map before while shard 0 has not confirmed the next one", async () => {
    const directory = await withShards(2);
    const before = directory.shown("orders");
    directory.away.add("orders");
    await directory.set("orders", 4);
    expect(directory.shown("orders")).toEqual(before);
    directory.away.delete("orders");
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ open: 4, kept: 4 });
  });

  it("keeps its map while a new shard is away, and is asked again", async () => {
    const directory = await withShards(1);
    directory.away.add("orders#2");
    await directory.set("orders", 3);
    await directory.settle();
    expect(directory.shown("orders")).toBeUndefined();
    expect(directory.object("orders").registration.record?.shards).toBeUndefined();
    expect(directory.wakeAfterMs).toBe(NOTIFY_AGAIN_MS);
    directory.away.clear();
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ open: 3, kept: 3 });
  });

  it("gives every shard its settings, and their changes", async () => {
    const directory = await withShards(3);
    const { queueId } = directory.registry.queue("orders")?.record ?? { queueId: "" };
    await directory.changes.change(() =>
      changeQueue(directory.registry, queueId, { settings: { deliveryPaused: true } }),
    );
    for (const name of directory.rows("orders")) {
      expect(directory.object(name).registration.definition).toMatchObject({ deliveryPaused: true });
    }
  });

  it("takes all shards along when it is deleted, and has a later map when it is created again", async () => {
    const directory = await withShards(3);
    const epoch = directory.shown("orders")?.epoch ?? 0;
    const first = directory.learn("orders");
    await directory.delete("orders");
    expect(directory.rows("orders")).toEqual([]);
    for (const name of ["orders", "orders#1", "orders#2"]) {
      expect(directory.registry.row(name)).toMatchObject({ kind: "deleted", isEmptied: true });
      expect(statusOf(directory.registry, name).kind).toBe("absent");
    }
    await directory.create("orders", { shards: 2 });
    expect(directory.shown("orders")?.epoch).toBeGreaterThan(epoch);
    for (const shard of [0, 1, 2]) expect(directory.send("orders", shard, first)).toBe(false);
  });

  it("created again without shards refuses a map of the former one", async () => {
    const directory = await withShards(3);
    const first = directory.learn("orders");
    await directory.delete("orders");
    await directory.create("orders");
    for (const shard of [0, 1, 2]) expect(directory.send("orders", shard, first)).toBe(false);
    expect(directory.send("orders", 0, null)).toBe(true);
  });

  it("makes shards only for itself", async () => {
    const directory = await withShards(2);
    expect(ensureQueue(directory.registry, "orders#1", null)).toMatchObject({ ok: true });
    expect(ensureQueue(directory.registry, "orders#2", null)).toMatchObject({ ok: false });
  });
});

describe("shards in a jurisdiction", () => {
  const inEurope = (registry: TestRegistry) =>
    createQueue(registry, { name: "orders", jurisdiction: "eu", settings: { shards: 3 } });

  it("are in the place of their queue", () => {
    const registry = new TestRegistry(new Map(), { nowMs: REGISTRY_START_MS }, true);
    inEurope(registry);
    expect(registry.shards("orders").map(({ record }) => [record.jurisdiction, record.place])).toEqual([
      ["eu", "eu"],
      ["eu", "eu"],
    ]);
  });

  it("are not made elsewhere while an object still holds messages of a deleted one", () => {
    const registry = new TestRegistry(new Map(), { nowMs: REGISTRY_START_MS }, true);
    inEurope(registry);
    deleteQueue(registry, registry.queue("orders")?.record.queueId ?? "");
    const emptied = (name: string) => {
      const row = registry.row(name);
      if (row?.kind === "deleted") registry.emptied(row);
    };
    emptied("orders");
    emptied("orders#1");
    expect(createQueue(registry, { name: "orders", settings: { shards: 3 } })).toMatchObject({ ok: true });
    expect(registry.shards("orders")).toEqual([]);
    emptied("orders#2");
    stepShards(registry, "orders");
    expect(registry.shards("orders").map(({ record }) => record.place)).toEqual([undefined, undefined]);
  });
});

describe("shrinking", () => {
  it("leaves a shard that has messages until it is empty", async () => {
    const directory = await withShards(4);
    const map = directory.learn("orders");
    for (const shard of [0, 1, 2, 3]) expect(directory.send("orders", shard, map)).toBe(true);
    await directory.set("orders", 1);
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ open: 1, kept: 4 });
    expect(directory.wakeAfterMs).toBe(ASK_SHARDS_MS);
    for (const shard of [1, 2, 3]) {
      expect(directory.send("orders", shard, map)).toBe(false);
      expect(directory.send("orders", shard, directory.learn("orders"))).toBe(false);
    }
    directory.object("orders#1").messages = 0;
    directory.object("orders#3").messages = 0;
    await passInterval(directory);
    expect(directory.shown("orders")).toMatchObject({ open: 1, kept: 3 });
    directory.object("orders#2").messages = 0;
    await passInterval(directory);
    expect(directory.shown("orders")).toMatchObject({ open: 1, kept: 1 });
    expect(directory.rows("orders")).toEqual(["orders"]);
    expect(directory.wakeAfterMs).toBeNull();
  });

  it("leaves the usage of a shard that goes to its queue, once", async () => {
    const directory = await withShards(4);
    for (const shard of [0, 1, 2, 2, 3, 3, 3]) directory.send("orders", shard, directory.learn("orders"));
    for (const object of directory.objects.values()) object.messages = 0;
    const gone = () => directory.object("orders").registration.record?.goneUsage?.messages;
    expect(gone()).toBeUndefined();
    await directory.set("orders", 3);
    await passInterval(directory);
    expect(gone()).toBe(3);
    await directory.set("orders", 1);
    await passInterval(directory);
    expect(gone()).toBe(6);
    // What comes again begins to count anew.
    await directory.set("orders", 4);
    directory.send("orders", 3, directory.learn("orders"));
    expect(directory.counted("orders")).toBe(8);
    directory.object("orders#3").messages = 0;
    await directory.set("orders", 1);
    await passInterval(directory);
    expect(gone()).toBe(7);
    expect(directory.rows("orders")).toEqual(["orders"]);
  });

  it("leaves an empty shard as long as shard 0 has messages for it", async () => {
    const directory = await withShards(3);
    const { passes } = directory.object("orders");
    passes.push(1, 2);
    await directory.set("orders", 2);
    await passInterval(directory);
    expect(directory.shown("orders")).toMatchObject({ open: 2, kept: 3 });
    passes.pop();
    await passInterval(directory);
    expect(directory.shown("orders")).toMatchObject({ open: 2, kept: 2 });
  });

  it("asks shard 0 before the others, since what it passes on may arrive in between", async () => {
    const directory = await withShards(2);
    directory.transfer("orders", 1);
    directory.beforeState = async (name) => {
      if (name !== "orders") return;
      await new Promise((resolve) => setImmediate(resolve));
      directory.arrive("orders");
    };
    await directory.set("orders", 1);
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ open: 1, kept: 2 });
    expect(directory.problems).toEqual([]);
  });

  it("asks no shard again before the interval is over", async () => {
    const directory = await withShards(2);
    const map = directory.learn("orders");
    directory.send("orders", 1, map);
    await directory.set("orders", 1);
    await directory.settle();
    directory.object("orders#1").messages = 0;
    directory.registry.time.nowMs += ASK_SHARDS_MS - 1;
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ kept: 2 });
    expect(directory.wakeAfterMs).toBe(1);
    directory.registry.time.nowMs += 1;
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ kept: 1 });
  });

  it("keeps an empty shard that does not know the map, because it may still take messages in", async () => {
    const directory = await withShards(2);
    const map = directory.learn("orders");
    directory.away.add("orders#1");
    await directory.set("orders", 1);
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ open: 1, kept: 2 });
    expect(directory.send("orders", 1, map)).toBe(true);
    expect(directory.problems).toEqual([]);
  });

  it("goes by no answer that was given for an earlier map", async () => {
    const directory = await withShards(2);
    directory.send("orders", 1, directory.learn("orders"));
    await directory.set("orders", 1);
    await directory.settle();
    const [question] = shardQuestions(directory.registry);
    if (question === undefined) throw new Error("nothing is asked");
    for (const shards of [2, 1]) {
      await directory.set("orders", shards);
      await directory.settle();
    }
    const state = { epoch: question.map.epoch, isEmpty: true, keepsGroups: false };
    const states = new Map([
      [0, state],
      [1, state],
    ]);
    expect(shardsAnswered(directory.registry, question, states)).toBe(false);
    expect(directory.shown("orders")).toMatchObject({ open: 1, kept: 2 });
  });

  it("is taken back by growing again, and keeps what the shard has", async () => {
    const directory = await withShards(2);
    directory.send("orders", 1, directory.learn("orders"));
    await directory.set("orders", 1);
    await directory.set("orders", 2);
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ open: 2, kept: 2 });
    expect(directory.object("orders#1").messages).toBe(1);
    expect(directory.wakeAfterMs).toBeNull();
  });
});

describe("a FIFO queue", () => {
  it("keeps `before` until every shard has let go of the groups of others, and changes no further until then", async () => {
    const directory = await withShards(2, { fifo: FIFO });
    expect(directory.shown("orders")).toMatchObject({ open: 2, kept: 2 });
    expect(directory.shown("orders")).not.toHaveProperty("before");
    directory.object("orders#1").keepsGroups = true;
    await directory.set("orders", 4);
    await directory.settle();
    expect(directory.shown("orders")).toMatchObject({ open: 4, kept: 4, before: 2 });
    await directory.set("orders", 3);
    await passInterval(directory);
    expect(directory.shown("orders")).toMatchObject({ open: 4, kept: 4, before: 2 });
    directory.object("orders#1").keepsGroups = false;
    await passInterval(directory);
    await passInterval(directory);
    expect(directory.shown("orders")).toMatchObject({ open: 3, kept: 3 });
    expect(directory.shown("orders")).not.toHaveProperty("before");
  });
});

describe("numbers of shards", () => {
  const refused = (settings: object, consumed = {}) => {
    const { registry } = new ShardDirectory();
    return createQueue(registry, { name: "orders", settings: { ...settings, ...consumed } });
  };

  it("are refused for a FIFO queue that deduplicates over all groups", () => {
    const reason = { ok: false, refusal: { kind: "shardsRefused", reason: "deduplicationScope" } };
    expect(refused({ shards: 2, fifo: {} })).toEqual(reason);
    expect(refused({ shards: 2, fifo: FIFO })).toMatchObject({ ok: true });
    expect(refused({ shards: 1, fifo: {} })).toMatchObject({ ok: true });
  });

  it.each([SHARDS_MAX - 1, SHARDS_MAX, SHARDS_MAX + 1])("are %i at most SHARDS_MAX", async (shards) => {
    const directory = await withShards(shards);
    expect(directory.shown("orders")).toMatchObject({ open: Math.min(shards, SHARDS_MAX) });
    expect(directory.rows("orders")).toHaveLength(Math.min(shards, SHARDS_MAX));
  });

  it("of a configuration that the queue's own scope does not allow are left out, with a warning", () => {
    const { registry } = new ShardDirectory();
    createQueue(registry, { name: "orders.fifo", settings: { fifo: {} } });
    const lines: string[] = [];
    const configured = {
      deliveryDelaySeconds: 0,
      messageRetentionSeconds: 60,
      producers: [],
      consumer: null,
      fifo: FIFO,
      shards: 4,
    };
    applyTopology(registry, { queues: { "orders.fifo": configured } }, (line) => lines.push(line));
    expect(registry.queue("orders.fifo")?.record.definition).not.toHaveProperty("shards");
    expect(lines.at(-1)).toBe(
      'queue "orders.fifo": it gets 1 shard and not 4, because its deduplication_scope is not "messageGroup"',
    );
  });

  it("of a configuration are made with the queue, and its shards warn of nothing", () => {
    const { registry } = new ShardDirectory();
    const lines: string[] = [];
    const mailer = consumer({ deadLetterQueue: "dead" });
    const orders = { deliveryDelaySeconds: 0, messageRetentionSeconds: 60, producers: [], consumer: mailer };
    const dead = { ...orders, consumer: pullConsumer({}) };
    applyTopology(registry, { queues: { orders: { ...orders, shards: 3 }, dead } }, (line) =>
      lines.push(line),
    );
    expect(registry.shards("orders")).toHaveLength(2);
    expect(lines).toEqual([]);
  });
});

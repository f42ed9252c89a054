import { QUEUE_ERROR_CODES, type RpcFailure } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { FakeQueue, packed } from "../../test/fake-queue.ts";
import { ASK_DIRECTORY_MS, KnownQueues } from "../calls/known-queues.ts";
import type { Shards } from "../calls/shards.ts";
import { sendSticky } from "./send-sticky.ts";

const QUEUE = "orders";
const OVERLOADED: RpcFailure = { ok: false, code: QUEUE_ERROR_CODES.queueOverloaded, cause: "too much" };

async function sharded(shards: number, random: () => number) {
  const world = new FakeQueue(QUEUE);
  if (shards > 1) world.open(shards);
  const queue = world.of(random);
  await queue.metrics(QUEUE);
  world.calls.length = 0;
  return { world, queue, post: () => queue.post(QUEUE, [{ packed: packed({}) }]) };
}

const placesOf = ({ shards }: FakeQueue) => shards.map(({ messages }) => messages.length);
const names = ({ calls }: FakeQueue) => calls.map(({ name }) => name);

describe("a producer of a standard queue", () => {
  it("calls a queue without shards once for each send, by its name alone", async () => {
    const { world, post } = await sharded(1, () => 0);
    await post();
    await post();
    expect(world.calls.map(({ name, method, args }) => [name, method, args[0]])).toEqual([
      [QUEUE, "post", QUEUE],
      [QUEUE, "post", QUEUE],
    ]);
  });

  it("learns of shards from the answer of its first send, chooses one, and stays with it", async () => {
    const world = new FakeQueue(QUEUE);
    world.open(4);
    const queue = world.of(() => 0.5);
    for (let i = 0; i < 3; i++) await queue.post(QUEUE, [{ packed: packed({}) }]);
    expect(placesOf(world)).toEqual([1, 0, 2, 0]);
    expect(world.calls.map(({ args }) => args[0])).toEqual([QUEUE, "orders#2@1", "orders#2@1"]);
  });

  it("imports into all shards in turn, and what is to be stored once into the first", async () => {
    const { world, queue } = await sharded(3, () => 0.4);
    const importBatch = (once: object) =>
      queue.work(QUEUE, { enqueue: { packed: packed({}), inTurn: true, ...once } });
    for (let i = 0; i < 4; i++) expect(await importBatch({})).toMatchObject({ enqueued: { ok: true } });
    expect(placesOf(world)).toEqual([1, 2, 1]);
    for (let i = 0; i < 2; i++) await importBatch({ once: { forget: [] } });
    expect(placesOf(world)).toEqual([3, 2, 1]);
    for (let i = 0; i < 3; i++) await queue.send(QUEUE, [{ packed: packed({}), inTurn: true }]);
    expect(placesOf(world)).toEqual([4, 3, 2]);
  });

  it.each([
    QUEUE_ERROR_CODES.queueOverloaded,
    QUEUE_ERROR_CODES.queueStorageLimitExceeded,
    QUEUE_ERROR_CODES.queueNotFound,
  ])("moves on from a shard that refuses with %i, and stays with the next", async (code) => {
    const { world, post } = await sharded(3, () => 0.4);
    world.shard(1).refusal = { ok: false, code, cause: "not now" };
    await post();
    await post();
    expect(placesOf(world)).toEqual([0, 0, 2]);
  });

  it("moves on from an object that the platform finds overloaded, not from one that was reset", async () => {
    const { world, post } = await sharded(2, () => 0);
    let isReset = false;
    world.beforeCall = (name) => {
      const marks = { overloaded: true, ...(isReset ? { durableObjectReset: true } : {}) };
      if (name === QUEUE) throw Object.assign(new Error("overloaded"), marks);
    };
    await post();
    expect(placesOf(world)).toEqual([0, 1]);
    isReset = true;
    const other = world.of(() => 0);
    world.shard(0).map = null;
    await expect(other.post(QUEUE, [{ packed: packed({}) }])).rejects.toThrow("overloaded");
  });

  it("is refused when all shards have refused, after one call of each", async () => {
    const { world, post } = await sharded(3, () => 0.4);
    for (const shard of world.shards) shard.refusal = OVERLOADED;
    expect(await post()).toEqual(OVERLOADED);
    expect(names(world)).toEqual(["orders#1", "orders#2", "orders"]);
  });

  it("is told of any other refusal at once", async () => {
    const { world, post } = await sharded(3, () => 0);
    const refusal = { ok: false, code: QUEUE_ERROR_CODES.messageMetadataInvalid, cause: "bad" } as const;
    world.shard(0).refusal = refusal;
    expect(await post()).toEqual(refusal);
    expect(names(world)).toEqual([QUEUE]);
  });

  describe("that has not called the queue before, whose first shard has too much", () => {
    const platform = () => Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });

    function overloaded(shards: number) {
      const world = new FakeQueue(QUEUE);
      if (shards > 1) world.open(shards);
      const queue = world.of(() => 0);
      return { world, post: () => queue.post(QUEUE, [{ packed: packed({}) }]) };
    }

    it.each([
      ["is overloaded", OVERLOADED],
      ["is gone", { ...OVERLOADED, code: QUEUE_ERROR_CODES.queueNotFound }],
      ["is full", { ...OVERLOADED, code: QUEUE_ERROR_CODES.queueStorageLimitExceeded }],
      ["is refused by the platform", null],
    ])("learns of the others from the directory: it %s", async (_, refusal) => {
      const { world, post } = overloaded(3);
      if (refusal !== null) world.shard(0).refusal = refusal;
      else
        world.beforeCall = (name) => {
          if (name === QUEUE) throw platform();
        };
      await post();
      await post();
      expect(placesOf(world)).toEqual([0, 2, 0]);
      expect(world.asked).toBe(1);
    });

    it("is refused where there are no others, and asks the directory again after 30 s", async () => {
      const { world, post } = overloaded(1);
      world.beforeCall = () => {
        throw platform();
      };
      for (const [passedMs, asked] of [
        [0, 1],
        [ASK_DIRECTORY_MS - 1, 1],
        [ASK_DIRECTORY_MS, 2],
      ] as const) {
        world.passedMs = passedMs;
        await expect(post()).rejects.toThrow("overloaded");
        expect(world.asked).toBe(asked);
      }
      expect(names(world)).toEqual([QUEUE, QUEUE, QUEUE]);
    });

    it("is refused by the first shard where the directory does not answer", async () => {
      const { world, post } = overloaded(3);
      world.shard(0).refusal = OVERLOADED;
      world.mapOf = () => Promise.reject(new Error("away"));
      expect(await post()).toEqual(OVERLOADED);
    });

    it("asks nobody where the object was reset", async () => {
      const { world, post } = overloaded(3);
      world.beforeCall = () => {
        throw Object.assign(platform(), { durableObjectReset: true });
      };
      await expect(post()).rejects.toThrow("overloaded");
      expect(world.asked).toBe(0);
    });
  });

  it("moves on although another request has learned of a later map meanwhile", async () => {
    const known = new KnownQueues(() => 0.9);
    known.learn(QUEUE, { epoch: 1, open: 2, kept: 2 });
    const shards = { queue: QUEUE, map: { open: 2 }, ports: { known } } as unknown as Shards;
    const tried: number[] = [];
    const send = async (shard: number) => {
      tried.push(shard);
      if (shard === 0) return "stored";
      known.learn(QUEUE, { epoch: 2, open: 2, kept: 2 });
      throw Object.assign(new Error("overloaded"), { overloaded: true });
    };
    expect(await sendSticky(shards, send, () => null)).toBe("stored");
    expect(tried).toEqual([1, 0]);
  });

  it("chooses anew when there are more shards", async () => {
    let chosen = 0;
    const { world, post } = await sharded(2, () => chosen);
    await post();
    world.open(8);
    chosen = 0.99;
    await post();
    expect(placesOf(world)).toEqual([1, 0, 0, 0, 0, 0, 0, 1]);
  });

  it("goes back to the queue's own object when it has no other shards any more", async () => {
    const { world, post } = await sharded(2, () => 0.9);
    world.open(1);
    world.tell(1);
    world.removeDrained();
    await post();
    expect(placesOf(world)).toEqual([1]);
    expect(world.calls.at(-1)?.args[0]).toBe(QUEUE);
  });

  it("is told that a queue is gone, and finds the one that is created under its name", async () => {
    const { world, queue, post } = await sharded(2, () => 0.9);
    for (const shard of world.shards) shard.exists = false;
    await expect(queue.metrics(QUEUE)).rejects.toThrow("(10104)");
    world.shard(0).exists = true;
    world.shard(0).map = null;
    await post();
    expect(world.messages).toHaveLength(1);
  });
});

describe("a sender of a FIFO queue", () => {
  it("gets one answer in the order of its request, and the refusal of one shard for all", async () => {
    const world = new FakeQueue("orders.fifo");
    world.open(4);
    for (const { shard } of world.shards) world.tell(shard);
    world.endMove();
    for (const { shard } of world.shards) world.tell(shard);
    const queue = world.of();
    const groups = ["a", "b", "c", "d", "a", "b"];
    const bytes = packed(...groups.map((group, i) => ({ group, dedup: `${group}${i}` })));
    const enqueue = () => queue.work("orders.fifo", { enqueue: { packed: bytes } });
    const owners = new Set<number>();
    world.shard(1).refusal = OVERLOADED;
    const refused = await enqueue();
    for (const { shard, messages } of world.shards) if (messages.length > 0) owners.add(shard);
    expect(owners.size).toBeGreaterThan(1);
    expect(refused).toMatchObject({ ok: true, enqueued: OVERLOADED });
    world.shard(1).refusal = null;
    const repeated = await enqueue();
    const messages = repeated.ok && repeated.enqueued?.ok === true ? (repeated.enqueued.messages ?? []) : [];
    expect(messages.map(({ messageId }) => Number.parseInt(messageId, 16))).toEqual(
      groups.map((_, i) => Number.parseInt(messages[0]?.messageId ?? "", 16) + i),
    );
    expect(messages.filter(({ duplicate }) => duplicate).length).toBeGreaterThan(0);
    expect(world.messages).toHaveLength(groups.length);
  });
});

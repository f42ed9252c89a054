import {
  DEDUPLICATION_MS,
  type EnqueueReply,
  GROUP_MOVED,
  ownerOf,
  type QueueDefinition,
  type ShardMap,
  ShardMapError,
  shardName,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { packToSend, SqsWorld } from "../../test/sqs-world.ts";
import { shardStateOf } from "../queue/shard-state.ts";

const QUEUE = "orders.fifo";
const FIFO: Partial<QueueDefinition> = { fifo: { deduplicationScope: "messageGroup" } };
const ONE: ShardMap = { epoch: 10, open: 1, kept: 1 };
const MOVING: ShardMap = { epoch: 20, open: 4, kept: 4, before: 1 };
const SETTLED: ShardMap = { epoch: 30, open: 4, kept: 4 };

/** A FIFO queue of four shards, on which every object goes by one map unless a test says otherwise. */
class Shards extends SqsWorld {
  constructor(map: ShardMap) {
    super({ [QUEUE]: FIFO, "dead.fifo": {}, orders: {} });
    this.go(map);
  }

  go(map: ShardMap, shards = [0, 1, 2, 3]): void {
    for (const shard of shards) this.maps.set(shardName(QUEUE, shard), map);
  }

  /** Offers a message to a shard, as a caller with a map does. */
  async offer(shard: number, map: ShardMap, groupId: string, id = `${groupId} 1`): Promise<EnqueueReply> {
    const packed = packToSend([{ body: id, groupId, deduplicationId: id }]);
    const work = this.core(shardName(QUEUE, shard)).work(
      { enqueue: { packed } },
      { epoch: map.epoch, check: () => {} },
    );
    const { enqueued } = await work;
    if (enqueued === undefined) throw new Error("nothing was enqueued");
    return enqueued;
  }

  state(shard: number) {
    return shardStateOf(this.core(shardName(QUEUE, shard)));
  }

  count(shard: number): number {
    return this.core(shardName(QUEUE, shard)).metrics().backlogCount;
  }
}

/** A group that a shard of four owns. */
function groupOf(shard: number, open = 4): string {
  for (let i = 0; ; i++) if (ownerOf(`g${i}`, open) === shard) return `g${i}`;
}

const group = groupOf(2);

describe("a former owner of a group", () => {
  it("stores messages while it holds some of it, and says that the group has moved once it has run dry", async () => {
    const shards = new Shards(ONE);
    expect(await shards.offer(0, ONE, group)).toMatchObject({ ok: true });
    shards.go(MOVING);
    expect(await shards.offer(0, MOVING, group, "second")).toMatchObject({ ok: true });
    expect(await shards.state(0)).toMatchObject({ epoch: 20, keepsGroups: true });
    for (let i = 0; i < 2; i++) await shards.delete(QUEUE, ...(await shards.receive(QUEUE)));
    expect(await shards.offer(0, MOVING, group, "third")).toMatchObject({ ok: false, code: GROUP_MOVED });
    expect(shards.count(0)).toBe(0);
    expect(await shards.offer(2, MOVING, group, "third")).toMatchObject({ ok: true });
  });

  it("answers a repeated message for five minutes, over a crash too, and then has none to keep", async () => {
    const shards = new Shards(ONE);
    const first = await shards.offer(0, ONE, group, "d");
    await shards.delete(QUEUE, ...(await shards.receive(QUEUE)));
    shards.go(MOVING);
    await shards.pass(DEDUPLICATION_MS - 1);
    shards.crash(QUEUE);
    expect(await shards.state(0)).toMatchObject({ keepsGroups: true, isEmpty: true });
    const [message] = first.ok === true ? (first.messages ?? []) : [];
    expect(await shards.offer(0, MOVING, group, "d")).toEqual({
      ok: true,
      messages: [{ ...message, duplicate: true }],
    });
    await shards.pass(1);
    expect(await shards.state(0)).toMatchObject({ keepsGroups: false });
    expect(await shards.offer(0, MOVING, group, "d")).toMatchObject({ ok: false, code: GROUP_MOVED });
  });

  it("stores nothing of a call with a group that has moved", async () => {
    const shards = new Shards(MOVING);
    const packed = packToSend([
      { body: "own", groupId: groupOf(0) },
      { body: "moved", groupId: group },
    ]);
    const { enqueued } = await shards
      .core(QUEUE)
      .work({ enqueue: { packed } }, { epoch: MOVING.epoch, check: () => {} });
    expect(enqueued).toMatchObject({ ok: false, code: GROUP_MOVED });
    expect(shards.count(0)).toBe(0);
  });

  it("stores a message behind one that was accepted in the same turn, though the last one before is gone", async () => {
    const shards = new Shards(ONE);
    await shards.offer(0, ONE, group);
    const [seen] = await shards.receive(QUEUE);
    shards.go(MOVING);
    shards.store(QUEUE).hold();
    // A turn that is under way makes what follows share the next one.
    const begun = shards
      .core(QUEUE)
      .work({ change: [{ receipt: seen?.receipt ?? "", visibilityTimeoutMs: 9_000 }] });
    const second = shards.offer(0, MOVING, group, "second");
    const gone = shards.delete(QUEUE, ...(seen === undefined ? [] : [seen]));
    const third = shards.offer(0, MOVING, group, "third");
    await shards.quiet();
    shards.store(QUEUE).release();
    await Promise.all([begun, gone]);
    expect([await second, await third]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(shards.count(0)).toBe(2);
  });
});

describe("a shard", () => {
  it("stores what callers with a later map send it", async () => {
    const shards = new Shards(ONE);
    expect(await shards.offer(2, MOVING, group)).toMatchObject({ ok: true });
    expect(await shards.offer(0, SETTLED, group)).toMatchObject({ ok: true });
  });

  it("says that a group belongs elsewhere once all are where they belong", async () => {
    const shards = new Shards(SETTLED);
    expect(await shards.offer(0, SETTLED, group)).toMatchObject({ ok: false, code: GROUP_MOVED });
    expect(await shards.offer(2, SETTLED, group)).toMatchObject({ ok: true });
    expect(await shards.state(2)).toEqual({ epoch: 30, isEmpty: false, keepsGroups: false });
  });

  it("does nothing of a call whose map is too old by the turn that would do it", async () => {
    const shards = new Shards(ONE);
    await shards.enqueue(QUEUE, "g-1");
    const [seen] = await shards.receive(QUEUE);
    const check = () => {
      throw new ShardMapError(QUEUE, MOVING);
    };
    const work = {
      remove: [seen?.receipt ?? ""],
      enqueue: { packed: packToSend([{ body: "x", groupId: "g" }]) },
    };
    await expect(shards.core(QUEUE).work(work, { epoch: 10, check })).rejects.toThrow(ShardMapError);
    expect(await shards.core(QUEUE).messageCounts()).toMatchObject({ visible: 0, notVisible: 1 });
    await expect(shards.core(QUEUE).send([], undefined, { epoch: 10, check })).rejects.toThrow(ShardMapError);
    await shards.enqueue(QUEUE, "h-1");
    const receiving = {
      receive: [{ max: 1 }],
      enqueue: { packed: packToSend([{ body: "x", groupId: "g" }]) },
    };
    await expect(shards.core(QUEUE).work(receiving, { epoch: 10, check })).rejects.toThrow(ShardMapError);
    expect(await shards.core(QUEUE).messageCounts()).toMatchObject({ visible: 1, notVisible: 1 });
  });

  it("is empty without messages, deliveries and transfers", async () => {
    const shards = new Shards(SETTLED);
    expect(await shards.state(2)).toMatchObject({ isEmpty: true });
    await shards.offer(2, SETTLED, group);
    const [seen] = await shards.receive(shardName(QUEUE, 2));
    expect(await shards.state(2)).toMatchObject({ isEmpty: false });
    await shards.delete(shardName(QUEUE, 2), ...(seen === undefined ? [] : [seen]));
    expect(await shards.state(2)).toMatchObject({ isEmpty: true });
    shards.carry = () => new Promise(() => {});
    const { core } = { core: shards.core(shardName(QUEUE, 2)) };
    await core.submit(() => core.outbox.put("dead.fifo", [packToSend([{ body: "x" }])]));
    expect(await shards.state(2)).toMatchObject({ isEmpty: false, keepsGroups: false });
  });

  it("keeps no groups on a standard queue, whatever its messages have", async () => {
    const world = new SqsWorld({ orders: {} });
    world.maps.set("orders", { epoch: 20, open: 4, kept: 4 });
    await world.enqueue("orders", { body: "x", groupId: group });
    expect(await shardStateOf(world.core("orders"))).toMatchObject({ keepsGroups: false, isEmpty: false });
  });
});

describe("a repeated receive", () => {
  it("that asks for nothing new gets what its attempt got, and else nothing", async () => {
    const shards = new Shards(SETTLED);
    const object = shardName(QUEUE, 2);
    await shards.offer(2, SETTLED, group);
    const ask = { attemptId: "a", onlyRepeated: true, waitMs: 20_000 };
    expect(await shards.receive(object, ask)).toEqual([]);
    const [first] = await shards.receive(object, { attemptId: "a" });
    expect(first).toBeDefined();
    expect((await shards.receive(object, ask)).map(({ receipt }) => receipt)).toEqual([first?.receipt]);
  });
});

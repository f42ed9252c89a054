import { makeUnreadable, PackedIndex } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";
import { DAMAGE_ENTRIES_MAX } from "./damage-log.ts";

const BATCH = { maxBatchSize: 10, maxBatchTimeoutSeconds: 1 };

function worldWith(settings: Parameters<typeof consumer>[0] = {}): World {
  return new World({ orders: { consumer: consumer({ ...BATCH, ...settings }) }, dead: {} });
}

/** Does to a queue's stored messages what the SQLite store does to those with a wrong checksum, and starts it again. */
function damageRecords(world: World, positions: readonly number[]): void {
  world.store("orders").damage(({ segments }) => {
    for (const [id, row] of segments)
      segments.set(id, { ...row, payload: withUnreadable(row.payload, positions) });
  });
  world.crash("orders");
}

function withUnreadable(packed: Uint8Array, positions: readonly number[]): Uint8Array {
  const copy = packed.slice();
  const { offsets } = new PackedIndex(copy);
  for (const i of positions) makeUnreadable(copy, offsets[i] ?? 0, offsets[i + 1] ?? 0);
  return copy;
}

describe("messages whose stored bytes are damaged", () => {
  it.each([
    [[0], ["b", "c", "d"]],
    [[1], ["a", "c", "d"]],
    [[3], ["a", "b", "c"]],
    [
      [0, 2],
      ["b", "d"],
    ],
    [
      [1, 2],
      ["a", "d"],
    ],
  ])(
    "at %j are never delivered, those around them are, and each is settled as its handler says",
    async (damaged, left) => {
      const world = worldWith();
      await world.send("orders", ["a", "b", "c", "d"]);
      damageRecords(world, damaged);
      world.core("orders");
      world.handler = (batch) => ({
        retryMessages: batch.messages.slice(-1).map(({ id }) => ({ msgId: id, delaySeconds: 60 })),
      });
      await world.pass(1_000);
      expect(bodiesOf(world.seen)).toEqual([left]);
      expect(world.handled).toEqual([["orders", left.length - 1, left.length]]);
      expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 1, leased: 0 });
      await world.pass(61_000);
      expect(bodiesOf(world.seen).slice(1)).toEqual([left.slice(-1)]);
    },
  );

  it("free their slot when none of a batch is left", async () => {
    const world = worldWith({ maxConcurrency: 1, maxBatchSize: 2 });
    await world.send("orders", ["a", "b"], { delaySeconds: 1 });
    damageRecords(world, [0, 1]);
    world.core("orders");
    await world.sendAndPass("orders", ["c", "d"], 1_000, { delaySeconds: 1 });
    expect(bodiesOf(world.seen)).toEqual([["c", "d"]]);
    expect([...world.store("orders").segments()]).toEqual([]);
  });

  it("are listed with their number, over restarts too", async () => {
    const world = worldWith();
    await world.send("orders", ["a", "b", "c"]);
    damageRecords(world, [1, 2]);
    world.core("orders");
    await world.pass(1_000);
    const entry = {
      kind: "messagesLost",
      foundAtMs: WORLD_START_MS + 1_000,
      messagesLost: 2,
      text: expect.stringMatching(
        /^2 messages are lost: their stored bytes are damaged \(segment \d+, within messages 0 to 2\)$/,
      ),
    };
    expect(world.core("orders").describe().damage).toEqual([entry]);
    expect(world.lines).toEqual([expect.stringMatching(/^error: Queue "orders": 2 messages are lost: /)]);
    world.crash("orders");
    expect(world.core("orders").describe().damage).toEqual([entry]);
  });

  it("are listed each time that some are found, however alike these are", async () => {
    const world = worldWith({ maxBatchSize: 1 });
    await world.send("orders", ["a", "b", "c"], { delaySeconds: 1 });
    damageRecords(world, [0, 2]);
    world.core("orders");
    await world.pass(1_000);
    const { damage } = world.core("orders").describe();
    expect(damage.map(({ messagesLost }) => messagesLost)).toEqual([1, 1]);
  });

  it("do not go to the dead-letter queue, the others do", async () => {
    const world = worldWith({ maxRetries: 0, deadLetterQueue: "dead" });
    world.handler = () => new Promise(() => {});
    await world.sendAndPass("orders", ["a", "b", "c"], 1_000);
    damageRecords(world, [1]);
    await world.pass(HEARTBEAT_MS);
    expect(world.core("dead").metrics()).toMatchObject({ backlogCount: 2 });
    expect(world.core("orders").describe()).toMatchObject({ leased: 0, damage: [{ messagesLost: 1 }] });
  });

  it("are not made whole by messages that are appended behind them", async () => {
    const world = worldWith({ maxBatchTimeoutSeconds: 60 });
    await world.send("orders", ["a", "b"]);
    const core = world.core("orders");
    for (const id of core.queue.segments.keys()) core.cache.delete(id);
    world.store("orders").damage(({ segments }) => {
      for (const [id, row] of segments)
        segments.set(id, { ...row, payload: withUnreadable(row.payload, [0]) });
    });
    await world.send("orders", ["c"]);
    expect([...world.store("orders").segments()]).toHaveLength(1);
    await world.pass(61_000);
    expect(bodiesOf(world.seen)).toEqual([["b", "c"]]);
    expect(core.describe().damage).toMatchObject([{ kind: "messagesLost", messagesLost: 1 }]);
  });
});

describe("messages on their way to another queue", () => {
  it("are transferred without those that are damaged", async () => {
    const world = worldWith({ maxRetries: 0, deadLetterQueue: "dead" });
    world.handler = () => ({ outcome: "exception" });
    world.carry = () => Promise.reject(new Error("no route"));
    await world.sendAndPass("orders", ["a", "b", "c"], 1_000);
    world.crash("orders");
    world.store("orders").damage(({ outbox }) => {
      for (const [id, item] of outbox)
        outbox.set(id, { ...item, payload: withUnreadable(item.payload, [1]) });
    });
    world.carry = (_target, _transfer, deliver) => deliver();
    world.core("orders");
    await world.pass(0);
    expect(world.core("dead").metrics()).toMatchObject({ backlogCount: 2 });
    expect(world.core("orders").describe().damage).toMatchObject([{ kind: "messagesLost", messagesLost: 1 }]);
  });

  it("are lost when their checksums are damaged", async () => {
    const world = worldWith({ maxRetries: 0, deadLetterQueue: "dead" });
    world.handler = () => ({ outcome: "exception" });
    world.carry = () => Promise.reject(new Error("no route"));
    await world.sendAndPass("orders", ["a"], 1_000);
    world.crash("orders");
    world.store("orders").damage(({ outbox }) => {
      for (const [id, item] of outbox) outbox.set(id, { ...item, payload: new Uint8Array() });
    });
    world.core("orders");
    await world.pass(0);
    expect(world.core("orders").describe().damage).toMatchObject([
      { kind: "messagesLost", messagesLost: null },
    ]);
    expect(world.store("orders").outbox()).toEqual([]);
  });
});

describe("the list of damage", () => {
  it("holds what is found again only once", () => {
    const { damage } = worldWith().core("orders");
    damage.note("structure", null, "a page is gone");
    damage.note("structure", null, "a page is gone");
    expect(damage.entries).toHaveLength(1);
  });

  it.each([DAMAGE_ENTRIES_MAX - 1, DAMAGE_ENTRIES_MAX, DAMAGE_ENTRIES_MAX + 1])(
    "of %i entries has the latest ones that fit",
    (count) => {
      const { damage } = worldWith().core("orders");
      for (let i = 0; i < count; i++) damage.note("messagesLost", 1, `number ${i}`);
      expect(damage.entries).toHaveLength(Math.min(count, DAMAGE_ENTRIES_MAX));
      expect(damage.entries.at(-1)?.text).toBe(`number ${count - 1}`);
    },
  );
});

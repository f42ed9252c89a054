import { ownerOf, PackedIndex, type ShardMap, shardName, topicObjectName } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packToSend, SqsWorld, type ToSend } from "../../test/sqs-world.ts";
import { BACKOFF_MAX_MS } from "../platform/backoff.ts";
import { shardStateOf } from "../queue/shard-state.ts";
import { TRANSFER_BYTES_MAX } from "./outbox.ts";

const QUEUE = "orders.fifo";
const SHARDS = 4;
const FIFO = { fifo: { deduplicationScope: "messageGroup" } } as const;
const TWO: ShardMap = { epoch: 15, open: 2, kept: 2 };
const MOVING: ShardMap = { epoch: 20, open: SHARDS, kept: SHARDS, before: 2 };
const SETTLED: ShardMap = { epoch: 30, open: SHARDS, kept: SHARDS };
const TOPIC = topicObjectName("t");

/** A queue of four shards that other objects transfer to; a FIFO queue unless another one is named. */
class Transfers extends SqsWorld {
  #nextId = 1;
  /** The ids of messages decide on their shards, so each world counts its own. */
  #messages = 0;

  readonly #queue: string;

  constructor(map: ShardMap, queue = QUEUE) {
    super({ [QUEUE]: FIFO, "dead.fifo": FIFO, orders: {}, other: {} });
    this.#queue = queue;
    this.go(map);
  }

  go(map: ShardMap, ...shards: number[]): void {
    const all = Array.from({ length: SHARDS }, (_, shard) => shard);
    for (const shard of shards.length > 0 ? shards : all) this.maps.set(shardName(this.#queue, shard), map);
  }

  /** Transfers messages to shard 0. */
  arrive(source: string, ...messages: ToSend[]) {
    return this.core(this.#queue).inbox.accept({
      source,
      id: this.#nextId++,
      packed: packToSend(messages.map((message) => ({ id: messageId(this.#messages++), ...message }))),
      more: [],
    });
  }

  /** Bodies that a shard holds, in order. */
  async held(shard: number): Promise<string[]> {
    const { packed } = await this.core(shardName(this.#queue, shard)).peek(100);
    const index = new PackedIndex(packed);
    return Array.from({ length: index.count }, (_, i) => new TextDecoder().decode(index.message(i).body));
  }
}

const messageId = (number: number): string => number.toString(16).padStart(32, "0");

function groupOf(shard: number, open = SHARDS, other = (_group: string) => true): string {
  for (let i = 0; ; i++) if (ownerOf(`g${i}`, open) === shard && other(`g${i}`)) return `g${i}`;
}

/** Loses the next transfer of a world, `call` or `answer`, when told to. Other troubles lose none. */
function losing(world: Transfers): (trouble: string) => void {
  let trouble = "none";
  world.carry = async (_target, _transfer, deliver) => {
    const now = trouble;
    trouble = "none";
    if (now === "call") throw new Error("lost");
    const reply = await deliver();
    if (now === "answer") throw new Error("lost");
    return reply;
  };
  return (next) => {
    trouble = next;
  };
}

const ofGroup = (groupId: string, body: string, deduplicationId?: string): ToSend => ({
  body,
  groupId,
  ...(deduplicationId === undefined ? {} : { deduplicationId }),
});

describe("what is transferred to a FIFO queue with shards", () => {
  it("is passed on to the owners of its groups, each in order", async () => {
    const world = new Transfers(SETTLED);
    const groups = [0, 1, 2, 3].map((shard) => groupOf(shard));
    const send = (round: number) => groups.map((group, shard) => ofGroup(group, `${shard} ${round}`));
    await world.arrive("dead.fifo", ...send(1), ...send(2));
    await world.arrive("dead.fifo", ...send(3));
    await world.pass(1_000);
    for (const shard of [0, 1, 2, 3])
      expect(await world.held(shard)).toEqual([1, 2, 3].map((n) => `${shard} ${n}`));
    expect(world.core(QUEUE).outbox.isEmpty).toBe(true);
  });

  it("comes from where it began, for people too", async () => {
    const world = new Transfers(SETTLED);
    world.keepsHistory = true;
    await world.arrive("dead.fifo", ofGroup(groupOf(2), "x"));
    world.carry = () => new Promise(() => {});
    await world.quiet();
    await world.arrive("dead.fifo", ofGroup(groupOf(3), "y"), ofGroup(groupOf(1), "z"));
    expect(world.core(QUEUE).outbox.describe()).toEqual([{ target: QUEUE, messages: 2, retryAtMs: null }]);
    const { events } = world.core(shardName(QUEUE, 2)).history.list({ max: 10 });
    expect(events).toMatchObject([{ kind: "arrived", by: "dead.fifo" }]);
  });

  it("is refused while groups move, and comes again", async () => {
    const world = new Transfers(MOVING);
    await expect(world.arrive("dead.fifo", ofGroup("g", "x"))).rejects.toThrow("while groups move");
    world.go(SETTLED);
    await world.arrive("dead.fifo", ofGroup(groupOf(1), "x"));
    await world.quiet();
    expect(await world.held(1)).toEqual(["x"]);
  });

  it("is dropped by the owner where it repeats a message of a topic, and not where it was moved by hand", async () => {
    const world = new Transfers(SETTLED);
    const group = groupOf(1);
    await world.arrive(TOPIC, ofGroup(group, "first", "d"));
    await world.arrive(TOPIC, ofGroup(group, "repeated", "d"));
    await world.arrive("dead.fifo", ofGroup(group, "moved", "d"));
    await world.quiet();
    expect(await world.held(1)).toEqual(["first", "moved"]);
  });
});

describe("what is on its way to a shard when the map changes", () => {
  /** Owned by shard 1 of two, and by shard 3 of four. */
  const group = groupOf(1, 2, (name) => ownerOf(name, SHARDS) === 3);

  /** Has shard 0 pass a message on by the map of two, which arrives when the objects go by another one. */
  async function overtaken(before: (world: Transfers) => Promise<void>): Promise<Transfers> {
    const world = new Transfers(TWO);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.carry = async (_target, _transfer, deliver) => {
      await promise;
      return deliver();
    };
    await world.arrive("dead.fifo", ofGroup(group, "late"));
    await before(world);
    resolve();
    await world.quiet();
    return world;
  }

  it("goes on to the new owner, because the former one has none of its group", async () => {
    const world = await overtaken(async (world) => world.go(MOVING));
    expect(await world.held(1)).toEqual([]);
    expect(await world.held(3)).toEqual(["late"]);
  });

  it("stays with the former owner that holds some of its group", async () => {
    const world = await overtaken(async (world) => {
      await world.enqueue(shardName(QUEUE, 1), { body: "early", groupId: group });
      world.go(MOVING);
    });
    expect(await world.held(1)).toEqual(["early", "late"]);
    expect(await world.held(3)).toEqual([]);
  });

  it("is stored by an owner that does not know the map yet by which it was passed on", async () => {
    const world = await overtaken(async (world) => {
      world.go(MOVING);
      world.go(TWO, 3);
    });
    expect(await world.held(3)).toEqual(["late"]);
  });
});

it("messages of groups come to their owners once and in order, whatever is lost on the way", async () => {
  const step = fc.record({
    group: fc.nat(5),
    isTopic: fc.boolean(),
    /** Whether the call is lost, its answer, or a shard's memory. */
    trouble: fc.constantFrom("none", "call", "answer", "crash0", "crashOwner"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const world = new Transfers(SETTLED);
      const lose = losing(world);
      const expected = new Map<string, string[]>();
      for (const [i, { group, isTopic, trouble: next }] of steps.entries()) {
        lose(next);
        const groupId = `g${group}`;
        const source = isTopic ? TOPIC : "dead.fifo";
        await world.arrive(source, ofGroup(groupId, `${source} ${groupId} ${i}`));
        const of = `${source} ${groupId}`;
        expected.set(of, [...(expected.get(of) ?? []), `${of} ${i}`]);
        if (next === "crash0") world.restart(QUEUE);
        if (next === "crashOwner") world.restart(shardName(QUEUE, ownerOf(groupId, SHARDS)));
        await world.quiet();
      }
      await world.pass(4 * BACKOFF_MAX_MS);
      const all = await Promise.all([0, 1, 2, 3].map((shard) => world.held(shard)));
      for (const [of, bodies] of expected) {
        const [, groupId = ""] = of.split(" ");
        const own = all.map((held) => held.filter((body) => body.startsWith(`${of} `)));
        expect(own[ownerOf(groupId, SHARDS)]).toEqual(bodies);
      }
      expect(all.flat()).toHaveLength(steps.length);
    }),
    { numRuns: 60 },
  );
});

describe("what is transferred to a standard queue with shards", () => {
  const map: ShardMap = { epoch: 20, open: 4, kept: 4 };
  const shards = [0, 1, 2, 3];

  function standard(): Transfers {
    const world = new Transfers(map, "orders");
    world.keepsHistory = true;
    return world;
  }

  it("falls to its shards, each call to one, from where it began", async () => {
    const world = standard();
    for (let i = 0; i < 40; i++) await world.arrive("dead", { body: `${i} a` }, { body: `${i} b` });
    await world.pass(1_000);
    const held = await Promise.all(shards.map((shard) => world.held(shard)));
    for (const bodies of held) {
      expect(bodies.length).toBeGreaterThanOrEqual(6);
      const ids = bodies.map((body) => body.split(" ")[0]);
      expect(ids.filter((id, i) => i % 2 === 1 && id !== ids[i - 1])).toEqual([]);
    }
    expect(held.flat()).toHaveLength(80);
    const { events } = world.core("orders#2").history.list({ max: 1 });
    expect(events).toMatchObject([{ kind: "arrived", by: "dead" }]);
  });

  it("stays with shard 0 where another one takes nothing, or much waits for it", async () => {
    const world = standard();
    world.carry = async (target, _transfer, deliver) => {
      if (target === "orders#1") throw new Error("it is full");
      if (target === "orders#2") return new Promise(() => {});
      return deliver();
    };
    const large = "x".repeat(TRANSFER_BYTES_MAX / 10);
    for (let i = 0; i < 400; i++) await world.arrive("dead", { body: i < 200 ? large : "small" });
    await world.quiet();
    const { outbox, store } = world.core("orders");
    expect(outbox.isBehind("orders#1")).toBe(true);
    expect(outbox.isBehind("orders#2")).toBe(true);
    expect(outbox.isBehind("orders#3")).toBe(false);
    const waiting = store.outbox().reduce((sum, { payload }) => sum + payload.byteLength, 0);
    expect(waiting).toBeLessThan(1.2 * TRANSFER_BYTES_MAX + large.length);
    expect((await world.core("orders").messageCounts()).visible).toBeGreaterThan(200);
  });

  it("lets a move of what shard 0 holds go on", async () => {
    const world = standard();
    world.carry = async (target, _transfer, deliver) => {
      if (target.startsWith("orders#")) return new Promise(() => {});
      return deliver();
    };
    for (let i = 0; i < 20; i++) await world.arrive("dead", { body: `${i}` });
    await world.core("orders").moves.begin({ taskId: "t", target: "other", ratePerSecond: null });
    await world.pass(1_000);
    expect(world.core("orders").queue.readyCount).toBe(0);
    expect(world.core("other").queue.readyCount).toBeGreaterThan(0);
  });

  it("says what is on its way to shards that drain", async () => {
    const world = standard();
    world.carry = () => new Promise(() => {});
    for (let i = 0; i < 20; i++) await world.arrive("dead", { body: `${i}` });
    const state = () => shardStateOf(world.core("orders"));
    expect(await state()).not.toHaveProperty("passesOn");
    world.go({ epoch: 30, open: 2, kept: 4 });
    expect(await state()).toMatchObject({ epoch: 30, passesOn: true });
  });

  it("comes once each, whatever is lost on the way and however many shards there are", async () => {
    const step = fc.record({
      open: fc.integer({ min: 1, max: 4 }),
      trouble: fc.constantFrom("none", "call", "answer", "crash0", "crash1"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const world = new Transfers(map, "orders");
        const lose = losing(world);
        for (const [i, { open, trouble: next }] of steps.entries()) {
          lose(next);
          world.go({ epoch: 20 + i, open, kept: 4 });
          await world.arrive("dead", { body: `${i}` });
          if (next === "crash0") world.restart("orders");
          if (next === "crash1") world.restart("orders#1");
          await world.quiet();
        }
        await world.pass(4 * BACKOFF_MAX_MS);
        const all = await Promise.all(shards.map((shard) => world.held(shard)));
        expect(all.flat().sort()).toEqual(steps.map((_, i) => `${i}`).sort());
      }),
      { numRuns: 60 },
    );
  });
});

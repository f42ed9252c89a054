import { ALERTS_QUEUE, packMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer, definition, packTexts } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { BACKOFF_FIRST_MS, BACKOFF_MAX_MS } from "../platform/backoff.ts";
import type { Transfer } from "../rpc/transfer.ts";
import { passSource } from "../shards/passed-on.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";
import { TRANSFER_MS_MAX } from "./outbox.ts";

const failing = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxRetries: 0 };

/** Every message of "orders" goes to "dead", which collects. */
function moving(): World {
  const world = new World({
    orders: { consumer: consumer({ ...failing, deadLetterQueue: "dead" }) },
    dead: {},
  });
  world.handler = () => ({ outcome: "exception" });
  return world;
}

const waiting = (world: World, queue: string) => world.core(queue).metrics().backlogCount;
const intents = (world: World, queue: string) => world.store(queue).outbox().length;

describe("a transfer", () => {
  it("is an intent in the commit that takes the message out, and is gone when the target has it", async () => {
    const world = moving();
    let stored = { intents: -1, segments: -1 };
    world.carry = (_target, _transfer, deliver) => {
      const store = world.store("orders");
      stored = { intents: store.outbox().length, segments: [...store.segments()].length };
      return deliver();
    };
    await world.sendAndPass("orders", ["a"]);
    expect(stored).toEqual({ intents: 1, segments: 0 });
    expect(intents(world, "orders")).toBe(0);
    expect(waiting(world, "dead")).toBe(1);
  });

  it.each<[string, (world: World) => World["carry"]]>([
    [
      "before the call",
      (world) => () => {
        world.crash("orders");
        return new Promise(() => {});
      },
    ],
    [
      "between the target's commit and the answer",
      (world) => async (_target, _transfer, deliver) => {
        await deliver();
        world.crash("orders");
      },
    ],
    [
      "of the target before its commit",
      (world) => async (target) => {
        world.crash(target);
        throw new Error("the object was reset");
      },
    ],
    [
      "of the target after its commit",
      (world) => async (target, _transfer, deliver) => {
        await deliver();
        world.crash(target);
        throw new Error("the object was reset");
      },
    ],
  ])("is repeated after a crash %s: nothing is lost, nothing is there twice", async (_when, carry) => {
    const world = moving();
    const disturbed = carry(world);
    let calls = 0;
    world.carry = (target, transfer, deliver) => {
      calls += 1;
      return calls === 1 ? disturbed(target, transfer, deliver) : deliver();
    };
    await world.sendAndPass("orders", ["a", "b", "c"], 60_000);
    expect(waiting(world, "dead")).toBe(3);
    expect(intents(world, "orders")).toBe(0);
    world.queues.dead = {
      ...(world.queues.dead as NonNullable<typeof world.queues.dead>),
      consumer: consumer(),
    };
    world.crash("dead");
    world.handler = () => ({});
    world.seen.length = 0;
    await world.pass(0);
    world.core("dead");
    await world.pass(10_000);
    expect(bodiesOf(world.seen).flat().sort()).toEqual(["a", "b", "c"]);
  });

  it.each([1, 2, 3, 4, 5])("survives that write %i of the move fails", async (k) => {
    const world = moving();
    const settled = Promise.withResolvers<void>();
    world.handler = async () => {
      await settled.promise;
      return { outcome: "exception" };
    };
    await world.sendAndPass("orders", ["a"]);
    world.store("orders").failWrite(k);
    world.store("dead").failWrite(k);
    settled.resolve();
    await world.pass(60_000);
    expect(waiting(world, "orders")).toBe(0);
    expect(waiting(world, "dead")).toBe(1);
    expect(intents(world, "orders")).toBe(0);
  });

  it("is not taken for one of an earlier epoch", async () => {
    const world = moving();
    for (const bodies of [["a", "b", "c"], ["d"], ["e", "f"]]) {
      for (const body of bodies) await world.send("orders", [body]);
      await world.pass(0);
      world.crash("orders");
    }
    expect(waiting(world, "dead")).toBe(6);
  });

  it("is made in order of the moves", async () => {
    const world = moving();
    const ids: number[] = [];
    world.carry = (_target, { id }, deliver) => {
      ids.push(id);
      return deliver();
    };
    for (const body of ["a", "b", "c"]) await world.send("orders", [body]);
    await world.pass(0);
    expect(waiting(world, "dead")).toBe(3);
    expect(ids.length).toBeGreaterThan(1);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  it("keeps the alarm set while it is under way: a crash must not leave it waiting for an outside call", async () => {
    const world = moving();
    world.carry = () => new Promise(() => {});
    await world.sendAndPass("orders", ["a"], 10 * HEARTBEAT_MS);
    expect(world.alarmIn("orders")).toBeLessThanOrEqual(HEARTBEAT_MS);
    world.crash("orders");
    world.carry = (_target, _transfer, deliver) => deliver();
    await world.pass(HEARTBEAT_MS);
    expect(waiting(world, "dead")).toBe(1);
  });

  it("sets no alarm for a moment that has come already", async () => {
    const world = moving();
    await world.sendAndPass("orders", ["a"]);
    const begun = world.nowMs - 1_700_000_000_000;
    expect(world.alarms.filter(([queue, atMs]) => queue === "orders" && atMs <= begun)).toEqual([]);
  });
});

describe("a target that does not answer", () => {
  it.each([
    [TRANSFER_MS_MAX - 1, []],
    [
      TRANSFER_MS_MAX,
      ['error: Queue "orders": messages for queue "dead" wait, it cannot be reached: no answer within 30 s'],
    ],
  ])("a target that does not answer has these log lines after %i ms: %j", async (ms, lines) => {
    const world = moving();
    world.carry = () => new Promise(() => {});
    await world.sendAndPass("orders", ["a"], ms);
    expect(world.lines.filter((line) => line.startsWith("error"))).toEqual(lines);
  });

  it("is called again, and an answer of the first call changes nothing any more", async () => {
    const world = moving();
    const late: (() => Promise<void>)[] = [];
    world.carry = (_target, _transfer, deliver) =>
      new Promise((_, reject) => {
        late.push(() => deliver().then(() => reject(new Error("too late"))));
      });
    await world.sendAndPass("orders", ["a"], TRANSFER_MS_MAX);
    world.carry = (_target, _transfer, deliver) => deliver();
    await world.sendAndPass("orders", ["b"], BACKOFF_FIRST_MS);
    expect([waiting(world, "dead"), intents(world, "orders")]).toEqual([2, 0]);
    await Promise.all(late.map((arrive) => arrive()));
    await world.pass(60_000);
    expect([waiting(world, "dead"), intents(world, "orders")]).toEqual([2, 0]);
    expect(world.lines.filter((line) => line.startsWith("error"))).toHaveLength(1);
  });

  it("does not keep messages for other targets", async () => {
    const world = new World({
      orders: { consumer: consumer({ ...failing, deadLetterQueue: "dead" }) },
      dead: {},
      other: {},
    });
    world.handler = () => ({ outcome: "exception" });
    world.carry = (target, _transfer, deliver) => (target === "dead" ? new Promise(() => {}) : deliver());
    await world.sendAndPass("orders", ["a"]);
    world.queues.orders = definition({ consumer: consumer({ ...failing, deadLetterQueue: "other" }) });
    await world.sendAndPass("orders", ["b"]);
    expect([waiting(world, "dead"), waiting(world, "other")]).toEqual([0, 1]);
  });
});

describe("a target that cannot be reached", () => {
  it("is tried again after twice the time each, up to the maximum, and the messages wait in the store", async () => {
    const world = moving();
    const tries: number[] = [];
    world.carry = async () => {
      tries.push(world.nowMs);
      throw new Error("no route");
    };
    await world.sendAndPass("orders", ["a"], 200_000);
    const waits = tries.slice(1).map((atMs, i) => atMs - (tries[i] ?? 0));
    expect(waits.slice(0, 8)).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7].map((n) => Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** n)),
    );
    expect(intents(world, "orders")).toBe(1);
    expect(world.lines).toContain(
      'error: Queue "orders": messages for queue "dead" wait, it cannot be reached: Error: no route',
    );
    world.carry = (_target, _transfer, deliver) => deliver();
    await world.pass(BACKOFF_MAX_MS);
    expect(intents(world, "orders")).toBe(0);
    expect(waiting(world, "dead")).toBe(1);
  });

  it("is waited for from the beginning after it was reached", async () => {
    const world = moving();
    const refuse = () => Promise.reject(new Error("no route"));
    world.carry = refuse;
    await world.sendAndPass("orders", ["a"], 10_000);
    world.carry = (_target, _transfer, deliver) => deliver();
    await world.pass(BACKOFF_MAX_MS);
    expect(waiting(world, "dead")).toBe(1);
    world.carry = refuse;
    await world.sendAndPass("orders", ["b"]);
    world.carry = (_target, _transfer, deliver) => deliver();
    await world.pass(BACKOFF_FIRST_MS);
    expect(waiting(world, "dead")).toBe(2);
  });

  it("is tried again by the next epoch", async () => {
    const world = moving();
    world.carry = () => Promise.reject(new Error("no route"));
    await world.sendAndPass("orders", ["a"]);
    world.crash("orders");
    world.carry = (_target, _transfer, deliver) => deliver();
    world.core("orders");
    await world.pass(0);
    expect(waiting(world, "dead")).toBe(1);
  });

  /** Fails "a" with the dead-letter queue "dead" and "b" with "other". */
  async function twoTargets(carry: (world: World) => World["carry"]): Promise<World> {
    const world = moving();
    world.carry = carry(world);
    await world.sendAndPass("orders", ["a"], 22_000);
    const { orders } = world.queues;
    if (orders === undefined) throw new Error("it is configured");
    world.queues.orders = { ...orders, consumer: consumer({ ...failing, deadLetterQueue: "other" }) };
    await world.sendAndPass("orders", ["b"]);
    return world;
  }

  it("does not keep messages from another target", async () => {
    let held = true;
    const world = await twoTargets(
      () => (target, _transfer, deliver) =>
        target === "dead" && held ? Promise.reject(new Error("no route")) : deliver(),
    );
    expect([waiting(world, "dead"), waiting(world, "other")]).toEqual([0, 1]);
    held = false;
    await world.pass(BACKOFF_MAX_MS);
    expect([waiting(world, "dead"), waiting(world, "other")]).toEqual([1, 1]);
  });

  it("is not waited for by another target that can be tried earlier", async () => {
    let held = true;
    const world = await twoTargets(
      () => (_target, _transfer, deliver) => (held ? Promise.reject(new Error("no route")) : deliver()),
    );
    held = false;
    await world.pass(BACKOFF_FIRST_MS);
    expect([waiting(world, "dead"), waiting(world, "other")]).toEqual([0, 1]);
    await world.pass(BACKOFF_MAX_MS);
    expect(waiting(world, "dead")).toBe(1);
  });
});

describe("taking", () => {
  const transfer = (id: number, body: string, source = "orders"): Transfer => ({
    source,
    id,
    packed: packTexts([body]),
  });

  it("drops what was taken before, by the source's id", async () => {
    const world = new World({ dead: {} });
    const core = world.core("dead");
    await core.inbox.accept(transfer(7, "a"));
    await core.inbox.accept(transfer(7, "a"));
    await core.inbox.accept(transfer(6, "older"));
    expect(waiting(world, "dead")).toBe(1);
    await core.inbox.accept(transfer(8, "b"));
    await core.inbox.accept(transfer(7, "a of another", "elsewhere"));
    expect(waiting(world, "dead")).toBe(3);
  });

  it("drops what is taken twice within one commit", async () => {
    const world = new World({ dead: {} });
    const store = world.store("dead");
    store.hold();
    const core = world.core("dead");
    const all = [
      core.inbox.accept(transfer(1, "a")),
      core.inbox.accept(transfer(2, "b")),
      core.inbox.accept(transfer(2, "b")),
    ];
    store.release();
    await Promise.all(all);
    expect(waiting(world, "dead")).toBe(2);
  });

  it("remembers that after a crash", async () => {
    const world = new World({ dead: {} });
    await world.core("dead").inbox.accept(transfer(7, "a"));
    world.crash("dead");
    await world.core("dead").inbox.accept(transfer(7, "a"));
    expect(waiting(world, "dead")).toBe(1);
    await world.core("dead").inbox.accept(transfer(8, "b"));
    expect(waiting(world, "dead")).toBe(2);
  });

  it("remembers what it took of a call before an error, so that a repeated call doubles nothing", async () => {
    const world = new World({ orders: {} });
    const { inbox } = world.core("orders");
    const source = passSource(ALERTS_QUEUE, "orders#1");
    const more = [{ id: 2, packed: packTexts(["no note"]) }];
    const call = { ...transfer(1, JSON.stringify({ kind: "failures", on: null }), source), more };
    await expect(inbox.accept(call)).rejects.toThrow(SyntaxError);
    expect(inbox.acceptedFrom(source)).toBe(1);
    world.crash("orders");
    expect(world.core("orders").inbox.acceptedFrom(source)).toBe(1);
  });

  it("notes nothing of what it cannot read, so that nothing is confirmed that is not there", async () => {
    const world = new World({ dead: {} });
    const core = world.core("dead");
    const damaged = { ...transfer(7, "a"), packed: new Uint8Array(39) };
    await expect(core.inbox.accept(damaged)).rejects.toThrow("cut off");
    await expect(core.inbox.accept(damaged)).rejects.toThrow("cut off");
    await core.inbox.accept(transfer(7, "a"));
    expect(waiting(world, "dead")).toBe(1);
  });

  it("keeps the time of the send and stamps what has none", async () => {
    const world = new World({ dead: { consumer: consumer({ maxBatchTimeoutSeconds: 0 }) } });
    const message = { id: "0".repeat(32), contentType: "text" as const, body: new Uint8Array() };
    const packed = packMessages([{ ...message, timestampMs: 1_234 }, message]);
    await world.core("dead").inbox.accept({ source: "orders", id: 1, packed });
    await world.pass(0);
    expect(world.seen[0]?.messages.map(({ timestampMs }) => timestampMs)).toEqual([1_234, world.nowMs]);
  });
});

it("an intent whose payload is damaged is reported and left out, and what comes after it is transferred", async () => {
  const world = moving();
  world.carry = () => Promise.reject(new Error("no route"));
  await world.send("orders", ["damaged"]);
  await world.sendAndPass("orders", ["kept"]);
  world.crash("orders");
  world.store("orders").damage(({ outbox }) => {
    const [first] = [...outbox.values()].sort((a, b) => a.id - b.id);
    if (first !== undefined) outbox.set(first.id, { ...first, payload: first.payload.slice(1) });
  });
  world.carry = (_target, _transfer, deliver) => deliver();
  world.lines.length = 0;
  world.core("orders");
  await world.pass(0);
  expect(waiting(world, "dead")).toBe(1);
  expect(world.lines).toEqual([
    expect.stringMatching(
      /^error: Queue "orders": messages for queue "dead" are damaged and lost: PackedFormatError/,
    ),
  ]);
  expect(intents(world, "orders")).toBe(0);
});

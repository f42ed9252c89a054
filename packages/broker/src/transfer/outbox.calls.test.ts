import { joinPacked, PackedIndex, packMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { packTexts, testId } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { TRANSFER_BYTES_MAX, TRANSFER_ITEMS_MAX } from "./outbox.ts";

/** Puts one item for each text into the outbox of "orders", in one commit. */
function put(world: World, target: string, texts: readonly string[]): Promise<void> {
  return putPacked(
    world,
    target,
    texts.map((text) => packTexts([text])),
  );
}

function putPacked(world: World, target: string, items: readonly Uint8Array[]): Promise<void> {
  const core = world.core("orders");
  return core.submit(() => {
    for (const packed of items) core.outbox.put(target, [packed]);
  });
}

async function bodies(world: World, queue: string): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const reply = await world.core(queue).receivers.receive({ max: 10 });
    if (reply.kind !== "received") return all;
    const index = new PackedIndex(reply.packed);
    all.push(...reply.receipts.map((_, i) => new TextDecoder().decode(index.message(i).body)));
  }
}

/** Records the calls to targets, each by the ids of its items. */
function watchCalls(world: World): number[][] {
  const calls: number[][] = [];
  world.carry = (_target, { id, more }, deliver) => {
    calls.push([id, ...(more ?? []).map((item) => item.id)]);
    return deliver();
  };
  return calls;
}

const intents = (world: World) => world.store("orders").outbox().length;
const numbered = (count: number) => Array.from({ length: count }, (_, i) => String(i));
const TEXTS = ["a", "b", "c", "d", "e"];

/** One record whose extension area is no sequence of fields, as one that lies where no seal covers it could become. */
function damagedRecord(): Uint8Array {
  const extension = { groupId: "g" };
  const packed = packMessages([{ id: testId(), contentType: "text", body: new Uint8Array(4), extension }]);
  new DataView(packed.buffer).setUint32(41, 1_000, true);
  return packed;
}

describe("what waits for a queue", () => {
  it("goes there in one call, is taken in one commit, in order, and is deleted in one", async () => {
    const world = new World({ orders: {}, dead: {} });
    const calls = watchCalls(world);
    await put(world, "dead", TEXTS);
    await world.pass(0);
    expect(calls.map((ids) => ids.length)).toEqual([5]);
    // At the source: the one that brought them, and the one that deleted them.
    expect([world.store("orders").commits, world.store("dead").commits]).toEqual([2, 1]);
    expect(intents(world)).toBe(0);
    expect(await bodies(world, "dead")).toEqual(TEXTS);
  });

  it.each([
    [TRANSFER_ITEMS_MAX - 1, [TRANSFER_ITEMS_MAX - 1]],
    [TRANSFER_ITEMS_MAX, [TRANSFER_ITEMS_MAX]],
    [TRANSFER_ITEMS_MAX + 1, [TRANSFER_ITEMS_MAX, 1]],
  ])("a transfer makes of %i items calls of %j", async (count, expected) => {
    const world = new World({ orders: {}, dead: {} });
    const calls = watchCalls(world);
    await put(world, "dead", numbered(count));
    await world.pass(0);
    expect(calls.map((ids) => ids.length)).toEqual(expected);
    expect(await bodies(world, "dead")).toEqual(numbered(count));
  });

  it.each([
    [-1, [2]],
    [0, [2]],
    [1, [1, 1]],
  ])("makes calls of %i bytes more than the limit: %j", async (bytesMore, expected) => {
    const world = new World({ orders: {}, dead: {} });
    const calls = watchCalls(world);
    const small = packTexts(["small"]);
    const headerBytes = packTexts([""]).byteLength;
    const large = "x".repeat(TRANSFER_BYTES_MAX + bytesMore - small.byteLength - headerBytes);
    await putPacked(world, "dead", [packTexts([large]), small]);
    await world.pass(0);
    expect(calls.map((ids) => ids.length)).toEqual(expected);
    expect(await bodies(world, "dead")).toEqual([large, "small"]);
  });

  it("takes a first item along that is larger than a call should be", async () => {
    const world = new World({ orders: {}, dead: {} });
    const calls = watchCalls(world);
    const large = "x".repeat(TRANSFER_BYTES_MAX);
    await put(world, "dead", [large, "b", "c"]);
    await world.pass(0);
    expect(calls.map((ids) => ids.length)).toEqual([1, 2]);
    expect(await bodies(world, "dead")).toEqual([large, "b", "c"]);
  });

  it("goes with the next call when it comes while one is under way", async () => {
    const world = new World({ orders: {}, dead: {} });
    const first = Promise.withResolvers<void>();
    const calls = watchCalls(world);
    const carry = world.carry;
    world.carry = async (...args) => {
      if (calls.length === 0) {
        const reply = await carry(...args);
        await first.promise;
        return reply;
      }
      return carry(...args);
    };
    await put(world, "dead", ["a"]);
    await world.quiet();
    for (const text of ["b", "c", "d"]) await put(world, "dead", [text]);
    first.resolve();
    await world.pass(0);
    expect(calls.map((ids) => ids.length)).toEqual([1, 3]);
    expect(await bodies(world, "dead")).toEqual(["a", "b", "c", "d"]);
  });

  it.each(["before the call", "before the target's commit", "after the target's commit"])(
    "arrives once and in order with what came later, when the source or the target crashes %s",
    async (when) => {
      for (const crashing of ["orders", "dead"]) {
        const world = new World({ orders: {}, dead: {} });
        const carry = world.carry;
        let hasCrashed = false;
        world.carry = async (_target, _transfer, deliver) => {
          if (hasCrashed) return deliver();
          hasCrashed = true;
          if (when === "after the target's commit") await deliver();
          if (when === "before the target's commit") world.store("dead").hold();
          const delivery = when === "before the target's commit" ? deliver() : null;
          delivery?.catch(() => {});
          await world.quiet();
          world.crash(crashing);
          if (crashing === "orders") world.store("dead").release();
          world.carry = carry;
          throw new Error("the call was cut off");
        };
        await put(world, "dead", ["a", "b"]);
        await world.pass(0);
        await put(world, "dead", ["c", "d"]);
        await world.pass(60_000);
        expect(await bodies(world, "dead")).toEqual(["a", "b", "c", "d"]);
        expect(intents(world)).toBe(0);
      }
    },
  );
});

it("an object of an earlier build takes the first item of a call and answers nothing: each item still arrives once, in order", async () => {
  const world = new World({ orders: {}, dead: {} });
  const calls: number[] = [];
  world.carry = async (target, { source, id, packed, more }) => {
    calls.push(1 + (more?.length ?? 0));
    await world.core(target).inbox.accept({ source, id, packed });
    return undefined;
  };
  await put(world, "dead", TEXTS);
  await world.pass(0);
  // Further items of a call are not sent in vain again.
  expect(calls).toEqual([5, 1, 1, 1, 1]);
  expect(intents(world)).toBe(0);
  expect(await bodies(world, "dead")).toEqual(TEXTS);
});

describe("an item that its target cannot read", () => {
  it("is reported and left out, and those before and after it arrive once and in order", async () => {
    const world = new World({ orders: {}, dead: {} });
    await putPacked(world, "dead", [packTexts(["a"]), damagedRecord(), packTexts(["b"]), packTexts(["c"])]);
    await world.pass(0);
    expect(await bodies(world, "dead")).toEqual(["a", "b", "c"]);
    expect(intents(world)).toBe(0);
    expect(world.lines).toEqual(['error: Queue "orders": 1 message for queue "dead" is damaged and lost']);
    expect(world.core("orders").damage.entries).toMatchObject([{ kind: "messagesLost", messagesLost: 1 }]);
  });

  it("loses the damaged records alone", async () => {
    const world = new World({ orders: {}, dead: {} });
    const mixed = joinPacked([packTexts(["a"]), damagedRecord(), packTexts(["b"])]);
    await putPacked(world, "dead", [mixed, packTexts(["c"])]);
    await world.pass(0);
    expect(await bodies(world, "dead")).toEqual(["a", "b", "c"]);
    expect(intents(world)).toBe(0);
    expect(world.lines).toEqual(['error: Queue "orders": 1 message for queue "dead" is damaged and lost']);
  });

  it("is repaired in the store too, so that a crash changes nothing", async () => {
    const world = new World({ orders: {}, dead: {} });
    const mixed = joinPacked([packTexts(["a"]), damagedRecord()]);
    let calls = 0;
    world.carry = (_target, _transfer, deliver) => {
      calls += 1;
      if (calls === 1) return deliver();
      world.crash("orders");
      return new Promise(() => {});
    };
    await putPacked(world, "dead", [mixed]);
    await world.pass(0);
    expect(world.store("orders").outbox()).toMatchObject([{ payload: { byteLength: 41 } }]);
    world.carry = (_target, _transfer, deliver) => deliver();
    world.core("orders");
    await world.pass(60_000);
    expect(await bodies(world, "dead")).toEqual(["a"]);
  });

  it("waits, with what comes after it, while its source can read it", async () => {
    const world = new World({ orders: {}, dead: {}, other: {} });
    let isStrict = true;
    world.carry = async (target, _transfer, deliver) =>
      isStrict && target === "dead" ? { takenTo: 0, refused: "a record of another build" } : deliver();
    await put(world, "dead", ["a", "b", "c"]);
    await put(world, "other", ["o"]);
    await world.pass(10_000);
    expect(await bodies(world, "other")).toEqual(["o"]);
    expect(intents(world)).toBe(3);
    expect(world.lines).toContain(
      'error: Queue "orders": messages for queue "dead" wait, it does not take them: a record of another build',
    );
    isStrict = false;
    await world.pass(60_000);
    expect(await bodies(world, "dead")).toEqual(["a", "b", "c"]);
    expect(intents(world)).toBe(0);
  });

  it("is refused with an error where the caller takes every answer for a yes", async () => {
    const world = new World({ dead: {} });
    const core = world.core("dead");
    const transfer = { source: "orders", id: 1, packed: damagedRecord() };
    await expect(core.inbox.accept(transfer)).rejects.toThrow("record 0 cannot be read");
    expect(await core.inbox.accept({ ...transfer, more: [] })).toEqual({
      takenTo: 0,
      refused: "record 0 cannot be read",
    });
    expect(core.inbox.acceptedFrom("orders")).toBe(0);
  });
});

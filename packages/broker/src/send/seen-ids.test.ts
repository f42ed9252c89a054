import { DELAY_SECONDS_MAX, packMessages } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { World } from "../../test/world.ts";
import type { QueueContext } from "../turn/context.ts";
import { SEEN_IDS_MAX, SEEN_MS, SeenIds } from "./seen-ids.ts";

const idOf = (n: number) => `${n}`.padStart(32, "0");

/** Has a queue store messages once, and answers which of them it had seen. */
async function store(world: World, numbers: readonly number[], forget: readonly number[] = []) {
  const packed = packMessages(
    numbers.map((n) => ({
      id: idOf(n),
      contentType: "text" as const,
      body: new TextEncoder().encode(`${n}`),
      delaySeconds: DELAY_SECONDS_MAX,
    })),
  );
  const once = { forget: forget.map(idOf) };
  const { enqueued } = await world
    .core("orders")
    .work({ enqueue: { packed, attempts: numbers.map((n) => n), once } });
  if (enqueued?.ok !== true) throw new Error(JSON.stringify(enqueued));
  return enqueued.messages?.flatMap(({ messageId, duplicate }) => (duplicate ? [Number(messageId)] : []));
}

/** Messages of the queue, each with its attempts. */
async function held(world: World) {
  const { messages } = await world.core("orders").messages.look({ max: 100 });
  return messages.map(({ id, attempts }) => [Number(id), attempts]);
}

const notesOf = (world: World) => [...world.store("orders").notes()].map(({ key }) => key);

describe("messages that are stored once", () => {
  it("are stored once, within a request, by later ones and after a crash, with their own attempts", async () => {
    const world = new World({ orders: {} });
    expect(await store(world, [1, 2, 1])).toEqual([1]);
    expect(await store(world, [2, 3, 4])).toEqual([2]);
    world.crash("orders");
    expect(await store(world, [4, 5, 1])).toEqual([4, 1]);
    expect(await held(world)).toEqual([1, 2, 3, 4, 5].map((n) => [n, n]));
  });

  it("are stored by one of two requests that share a commit", async () => {
    const world = new World({ orders: {} });
    await store(world, [1]);
    world.store("orders").hold();
    const both = [store(world, [2]), store(world, [2, 3])];
    await world.quiet();
    world.store("orders").release();
    expect(await Promise.all(both)).toEqual([[], [2]]);
  });

  it("are stored again once a request has named them, behind its own messages", async () => {
    const world = new World({ orders: {} });
    await store(world, [1, 2]);
    expect(await store(world, [1], [1, 2])).toEqual([1]);
    expect(await store(world, [1])).toEqual([]);
    world.crash("orders");
    expect(await store(world, [1, 2])).toEqual([1]);
  });

  it("are remembered also when the queue was purged", async () => {
    const world = new World({ orders: {} });
    await store(world, [1]);
    await world.core("orders").purge();
    expect(await store(world, [1])).toEqual([1]);
    expect(await held(world)).toEqual([]);
  });

  it.each([
    [SEEN_MS - 1, [1]],
    [SEEN_MS, []],
    [SEEN_MS + 1, []],
  ])("are remembered for 14 days: after %i ms the duplicates are %j", async (ms, duplicates) => {
    const world = new World({ orders: {} });
    await store(world, [1]);
    world.move(ms);
    expect(await store(world, [1])).toEqual(duplicates);
  });

  it("leave no note behind: those that are forgotten at once, those that expire with the next request", async () => {
    const world = new World({ orders: {} });
    await store(world, [1, 2]);
    await store(world, [3], [1]);
    expect(notesOf(world)).toHaveLength(2);
    await store(world, [4], [2, 3]);
    expect(notesOf(world)).toHaveLength(1);
    world.move(SEEN_MS);
    await store(world, [4], [4]);
    expect(notesOf(world)).toEqual([]);
  });
});

it("remembers a bounded number of ids", () => {
  const writes: string[] = [];
  const context = { nowMs: 0, write: () => {}, store: { writeNote: (key: string) => writes.push(key) } };
  const seen = new SeenIds(context as unknown as QueueContext, 1);
  seen.remember(Array.from({ length: SEEN_IDS_MAX - 1 }, (_, i) => idOf(i)));
  expect([0, 1, 2].map((more) => seen.hasRoomFor(more))).toEqual([true, true, false]);
});

it("takes messages as new whose ids cannot be read, and says so", () => {
  const said: string[] = [];
  const context = { nowMs: 0, damage: { note: (kind: string) => said.push(kind) } };
  const seen = new SeenIds(context as unknown as QueueContext, 1);
  expect(seen.restore("deduplication:1", new Uint8Array())).toBe(false);
  expect(seen.restore("seen:1", new Uint8Array([9]))).toBe(true);
  expect(said).toEqual(["messagesAgain"]);
});

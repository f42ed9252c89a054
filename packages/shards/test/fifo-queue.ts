import { type EnqueuedMessage, PackedIndex } from "@sluice/protocol";
import fc from "fast-check";
import { expect } from "vitest";
import type { QueueRpc } from "../src/index.ts";
import { type Chances, makeChaos, randomOf } from "./chaos.ts";
import { FakeQueue, packed } from "./fake-queue.ts";

const QUEUE = "orders.fifo";
const GROUPS = ["a", "b", "c", "d", "e", "f"] as const;
const COMMANDS = ["send", "send", "again", "receive", "attempt", "delete", "deleteAll"] as const;
type Command = (typeof COMMANDS)[number];

export const fifoHistories = fc.record({
  seed: fc.nat(2 ** 31),
  commands: fc.array(fc.constantFrom(...COMMANDS), { maxLength: 50, size: "max" }),
});

/** Request that was made, and how often deduplication ids had been forgotten by then. */
interface Sent {
  readonly packed: Uint8Array;
  readonly ids: readonly string[];
  readonly expired: number;
}

/** A history of a FIFO queue, and what has to hold after each of its calls. */
export async function runFifo(
  { seed, commands }: { readonly seed: number; readonly commands: readonly Command[] },
  chances: Chances,
  callersOf = (world: FakeQueue, random: () => number): { of(queue: string): QueueRpc } =>
    world.callers(random),
): Promise<void> {
  const random = randomOf(seed);
  const world = new FakeQueue(QUEUE);
  makeChaos(world, random, chances);
  // Two isolates, of which each learns of a map by its own calls.
  const isolates = [callersOf(world, random), callersOf(world, random)];
  const sent: Sent[] = [];
  /** Ids of each group's messages that are not deleted, in the order in which they were sent. */
  const order = new Map<string, string[]>(GROUPS.map((group) => [group, []]));
  const held = new Map<string, string>();
  let count = 0;
  let queue = callersOf(world, random).of(QUEUE);

  /** Sends until it is stored: a client repeats a request that fails. */
  const send = async (bytes: Uint8Array): Promise<readonly EnqueuedMessage[]> => {
    for (;;) {
      try {
        const done = await queue.work(QUEUE, { enqueue: { packed: bytes } });
        if (done.ok && done.enqueued?.ok === true) return done.enqueued.messages ?? [];
        throw new Error("a send is refused");
      } catch (error) {
        if (chances.failure === 0 || !/answer|too fast/.test(String(error))) throw error;
      }
    }
  };
  const take = (bytes: Uint8Array, receipts: readonly string[], isRepeated: boolean) => {
    const index = new PackedIndex(bytes);
    for (let i = 0; i < index.count; i++) {
      const id = index.id(i);
      const group = index.extension(i).groupId ?? "";
      if (!isRepeated) expect(held.has(id)).toBe(false);
      held.set(id, receipts[i] ?? "");
      // All before it are in this answer, too.
      const before = order.get(group)?.slice(0, order.get(group)?.indexOf(id)) ?? [];
      for (const earlier of before) expect(held.has(earlier)).toBe(true);
    }
  };

  const run = async (command: Command) => {
    switch (command) {
      case "send": {
        const expired = world.expired;
        const bytes = packed(
          ...Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
            count += 1;
            return { group: GROUPS[Math.floor(random() * GROUPS.length)] ?? "a", dedup: `d${count}` };
          }),
        );
        const index = new PackedIndex(bytes);
        const ids = index.ids();
        for (const [i, id] of ids.entries()) order.get(index.extension(i).groupId ?? "")?.push(id);
        expect((await send(bytes)).map(({ messageId }) => messageId)).toEqual(ids);
        sent.push({ packed: bytes, ids, expired });
        return;
      }
      case "again": {
        const { expired } = world;
        const before = world.messages.length;
        const one = sent[Math.floor(random() * sent.length)];
        if (one === undefined || one.expired !== expired) return;
        const replies = await send(one.packed);
        expect(replies.map(({ messageId, duplicate }) => [messageId, duplicate])).toEqual(
          one.ids.map((id) => [id, true]),
        );
        expect(world.messages).toHaveLength(before);
        return;
      }
      case "receive": {
        const reply = await queue.receive(QUEUE, { max: 1 + Math.floor(random() * 4), waitMs: 0 });
        if (reply.kind === "received") take(reply.packed, reply.receipts, false);
        return;
      }
      case "attempt": {
        const request = { max: 3, attemptId: `attempt ${count} ${random()}`, waitMs: 0 };
        const replies: string[][] = [];
        while (replies.length < 2) {
          try {
            const reply = await queue.receive(QUEUE, request);
            if (reply.kind === "empty") return;
            if (reply.kind === "received") {
              take(reply.packed, reply.receipts, replies.length > 0);
              replies.push(new PackedIndex(reply.packed).ids());
            }
          } catch (error) {
            if (chances.failure === 0 || !/answer|too fast/.test(String(error))) throw error;
          }
        }
        expect(replies[1]).toEqual(replies[0]);
        return;
      }
      case "delete":
      case "deleteAll": {
        const some = [...held].filter(() => command === "deleteAll" || random() < 0.5);
        const done = await queue.work(QUEUE, { remove: some.map(([, receipt]) => receipt) });
        expect(done).toMatchObject({ removed: some.map(() => "deleted") });
        for (const [id] of some) held.delete(id);
      }
    }
  };

  for (const command of commands) {
    if (random() < chances.change / 4) world.expire();
    queue = isolates[Math.floor(random() * isolates.length)]?.of(QUEUE) ?? queue;
    try {
      await run(command);
    } catch (error) {
      if (chances.failure === 0 || !/answer|too fast/.test(String(error))) throw error;
    }
    const places = new Map<string, number>();
    const left = new Set(world.messages.map(({ id }) => id));
    for (const [group, ids] of order)
      order.set(
        group,
        ids.filter((id) => left.has(id)),
      );
    for (const id of held.keys()) if (!left.has(id)) held.delete(id);
    for (const { shard, messages } of world.shards) {
      for (const { group } of messages) {
        expect(places.get(group) ?? shard).toBe(shard);
        places.set(group, shard);
      }
    }
  }
  expect(world.faults).toEqual([]);
}

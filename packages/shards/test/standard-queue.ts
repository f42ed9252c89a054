import { type PackedIndex as Index, PackedIndex } from "@sluice/protocol";
import fc from "fast-check";
import { expect } from "vitest";
import type { QueueRpc } from "../src/index.ts";
import { type Chances, makeChaos, randomOf } from "./chaos.ts";
import { tokenFor } from "./fake-messages.ts";
import { FakeQueue, packed } from "./fake-queue.ts";

const QUEUE = "orders";
const COMMANDS = [
  "post",
  "send",
  "enqueue",
  "receive",
  "poll",
  "pull",
  "delete",
  "settle",
  "deleteByRef",
  "makeDue",
  "release",
  "purge",
  "count",
  "list",
] as const;
type Command = (typeof COMMANDS)[number];

export const histories = fc.record({
  seed: fc.nat(2 ** 31),
  commands: fc.array(fc.constantFrom(...COMMANDS), { maxLength: 50, size: "max" }),
});

/** A history of a standard queue, and what has to hold after each of its calls. */
export async function runStandard(
  { seed, commands }: { readonly seed: number; readonly commands: readonly Command[] },
  chances: Chances,
  callersOf = (world: FakeQueue, random: () => number): { of(queue: string): QueueRpc } =>
    world.callers(random),
): Promise<void> {
  const random = randomOf(seed);
  const world = new FakeQueue(QUEUE);
  makeChaos(world, random, chances);
  // Two isolates, of which each learns of a map by its own calls.
  const callers = [callersOf(world, random), callersOf(world, random)];
  const run = new Run(world, random, callers, chances.failure > 0);
  for (const command of commands) await run.do(command);
  expect(world.faults).toEqual([]);
}

/** Callers, and the leases that they have. */
class Run {
  readonly #world: FakeQueue;
  readonly #random: () => number;
  readonly #callers: readonly { of(queue: string): QueueRpc }[];
  readonly #fails: boolean;
  /** Receipts by the ids of their messages. */
  readonly #held = new Map<string, string>();

  constructor(
    world: FakeQueue,
    random: () => number,
    callers: readonly { of(queue: string): QueueRpc }[],
    fails: boolean,
  ) {
    this.#world = world;
    this.#random = random;
    this.#callers = callers;
    this.#fails = fails;
  }

  async do(command: Command): Promise<void> {
    const [first, second] = this.#callers.map((callers) => callers.of(QUEUE));
    const queue = this.#random() < 0.5 ? first : second;
    if (queue === undefined) return;
    const before = this.#world.messages.map(({ id }) => id);
    const ready = this.#world.messages.filter(({ lease }) => lease === null).length;
    try {
      await this.#call(command, queue, before, ready);
    } catch (error) {
      if (!this.#fails || !/answer|too fast/.test(String(error))) throw error;
      // Nobody knows which of them it has settled.
      this.#held.clear();
    }
    this.#checkLeases();
  }

  async #call(command: Command, queue: QueueRpc, before: readonly string[], ready: number): Promise<void> {
    const some = packed(...Array.from({ length: 1 + Math.floor(this.#random() * 3) }, () => ({})));
    const max = 1 + Math.floor(this.#random() * 5);
    switch (command) {
      case "post":
        expect(typeof (await queue.post(QUEUE, [{ packed: some }]))).toBe("string");
        return this.#expectStored(some, before);
      case "send":
        expect(await queue.send(QUEUE, [{ packed: some }])).toMatchObject({ ok: true });
        return this.#expectStored(some, before);
      case "enqueue": {
        const done = await queue.work(QUEUE, { enqueue: { packed: some } });
        expect(done).toEqual({ ok: true, enqueued: { ok: true, messages: null } });
        return this.#expectStored(some, before);
      }
      case "receive": {
        const done = await queue.work(QUEUE, { receive: [{ max }, { max }] });
        const replies = done.ok ? (done.received ?? []) : [];
        expect(replies).toHaveLength(2);
        for (const reply of replies) if (reply.kind === "received") this.#hold(reply.packed, reply.receipts);
        if (replies.every(({ kind }) => kind === "empty")) expect(ready).toBe(0);
        return;
      }
      case "poll": {
        const reply = await queue.receive(QUEUE, { max, waitMs: 0 });
        if (reply.kind === "received") this.#hold(reply.packed, reply.receipts);
        else expect([reply.kind, ready]).toEqual(["empty", 0]);
        return;
      }
      case "pull": {
        const reply = await queue.pull(QUEUE, { max });
        if (!reply.ok) throw new Error(reply.reason);
        this.#hold(reply.batch.packed, reply.batch.leaseIds);
        if (reply.batch.leaseIds.length === 0) expect(ready).toBe(0);
        return;
      }
      case "delete": {
        const [remove, change] = this.#halves();
        const done = await queue.work(QUEUE, {
          remove: receiptsOf(remove),
          change: receiptsOf(change).map((receipt) => ({ receipt, visibilityTimeoutMs: 0 })),
        });
        expect(done).toMatchObject({
          ok: true,
          removed: remove.map(() => "deleted"),
          changed: change.map(() => "changed"),
        });
        return this.#let(remove, change);
      }
      case "settle": {
        const [acks, retries] = this.#halves();
        const done = await queue.settleLeases(QUEUE, {
          acks: receiptsOf(acks),
          retries: receiptsOf(retries).map((leaseId) => ({ leaseId })),
        });
        if (!this.#fails)
          expect(done).toEqual({ ackCount: acks.length, retryCount: retries.length, warnings: [] });
        return this.#let(acks, retries);
      }
      case "deleteByRef": {
        const { messages } = await queue.look(QUEUE, { max });
        const refs = messages.map(({ ref }) => ref);
        expect((await queue.deleteByRefs(QUEUE, refs)).deleted).toBe(refs.length);
        for (const { id } of messages) this.#held.delete(id);
        return;
      }
      case "makeDue": {
        const { messages } = await queue.look(QUEUE, { max });
        const made = await queue.makeDue(
          QUEUE,
          messages.map(({ ref }) => ref),
        );
        expect(made).toEqual(messages.map(({ state }) => (state === "leased" ? "due" : "wasDue")));
        for (const { id } of messages) this.#held.delete(id);
        return;
      }
      case "release": {
        const [released] = this.#halves();
        await queue.release(QUEUE, receiptsOf(released));
        return this.#let([], released);
      }
      case "purge": {
        const { purged } = await queue.purge(QUEUE);
        if (!this.#fails) expect(purged).toBe(before.length);
        expect(this.#world.messages).toEqual([]);
        this.#held.clear();
        return;
      }
      case "count": {
        expect((await queue.metrics(QUEUE)).backlogCount).toBe(ready);
        const counts = await queue.messageCounts(QUEUE);
        expect(counts).toEqual({ visible: ready, notVisible: before.length - ready, delayed: 0 });
        return;
      }
      case "list":
        return this.#list(queue, before, max);
    }
  }

  /** Reads the list page by page. Messages stay where they are, whatever becomes of the map. */
  async #list(queue: QueueRpc, before: readonly string[], max: number): Promise<void> {
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const from: { cursor?: string } = cursor === null ? {} : { cursor };
      const page = await queue.look(QUEUE, { max, ...from });
      expect(page.messages.length).toBeLessThanOrEqual(max);
      const times = page.messages.map(({ sentMs }) => sentMs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      ids.push(...page.messages.map(({ id }) => id));
      // Of a queue that has no shards any more a cursor is one of its object.
      cursor = page.cursor?.includes("_") === false && this.#world.map.kept > 1 ? null : page.cursor;
      if (cursor?.includes("_") && this.#world.map.kept === 1) return;
      if (cursor === null && page.cursor !== null) return;
    } while (cursor !== null);
    expect(ids.toSorted()).toEqual(before.toSorted());
  }

  #expectStored(some: Uint8Array, before: readonly string[]): void {
    const stored = this.#world.messages.map(({ id }) => id);
    expect(stored.toSorted()).toEqual([...before, ...new PackedIndex(some).ids()].toSorted());
  }

  #hold(bytes: Uint8Array, receipts: readonly string[]): void {
    const index: Index = new PackedIndex(bytes);
    expect(receipts).toHaveLength(index.count);
    for (const [i, receipt] of receipts.entries()) {
      expect(this.#held.has(index.id(i))).toBe(false);
      this.#held.set(index.id(i), receipt);
    }
  }

  /** Leases that somebody has, in two parts. */
  #halves(): [[string, string][], [string, string][]] {
    const all = [...this.#held].filter(() => this.#random() < 0.6);
    const half = Math.floor(this.#random() * (all.length + 1));
    return [all.slice(0, half), all.slice(half)];
  }

  #let(gone: readonly [string, string][], free: readonly [string, string][]): void {
    const ids = new Set(this.#world.messages.map(({ id }) => id));
    for (const [id] of gone) expect(ids.has(id)).toBe(false);
    for (const [id] of free) expect(ids.has(id)).toBe(true);
    for (const [id] of [...gone, ...free]) this.#held.delete(id);
  }

  /** Each lease is of one caller; without failures each is known to its caller. */
  #checkLeases(): void {
    const leased = this.#world.messages.filter(({ lease }) => lease !== null);
    if (this.#fails) return;
    expect(leased.map(({ id }) => id).toSorted()).toEqual([...this.#held.keys()].toSorted());
    for (const { id, lease } of leased)
      expect(this.#held.get(id)).toMatch(new RegExp(`^${tokenFor(id, lease ?? 0)}(-\\d+)?$`));
  }
}

function receiptsOf(held: readonly [string, string][]): string[] {
  return held.map(([, receipt]) => receipt);
}

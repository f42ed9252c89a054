import { type LookedAt, type LookRequest, parseFilter, type QueueDefinition } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, pullConsumer } from "../../test/messages.ts";
import { PullClient } from "../../test/pull-client.ts";
import { only, SqsWorld } from "../../test/sqs-world.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";

const SINGLE = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };

function filterOf(text: string) {
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.filter;
}

function lookAt(world: World, terms = "", request: Partial<LookRequest> = {}, queue = "orders") {
  return world.core(queue).messages.look({ max: 100, filter: filterOf(terms), ...request });
}

/** Newest first. */
function finishedIn(world: World, terms = "", queue = "orders"): readonly LookedAt[] {
  return lookAt(world, `state:finished ${terms}`, {}, queue).messages;
}

const bodyOf = ({ body }: LookedAt) => new TextDecoder().decode(body);

function keeping<Kind extends World>(world: Kind): Kind {
  world.keepsHistory = true;
  return world;
}

function worldOf(queue: Partial<QueueDefinition>): World {
  return keeping(new World({ orders: queue, dead: {} }));
}

function sqsWorld(name = "orders"): SqsWorld {
  return keeping(new SqsWorld({ [name]: {} }));
}

describe("a finished message", () => {
  it("is there with its body when its consumer has acknowledged it, by id and by its ref of before", async () => {
    const world = worldOf({ consumer: consumer(SINGLE) });
    world.nowMs += 5;
    const held = Promise.withResolvers<object>();
    world.handler = () => held.promise;
    await world.send("orders", ["lamp"]);
    await world.quiet();
    const [before] = lookAt(world).messages;
    expect(before).toMatchObject({ state: "leased" });
    world.nowMs += 1_000;
    held.resolve({});
    await world.quiet();
    const expected = {
      id: before?.id,
      ref: before?.ref,
      state: "finished",
      attempts: 1,
      sentMs: WORLD_START_MS + 5,
      atMs: WORLD_START_MS + 1_005,
      contentType: "text",
      bodyBytes: 4,
      end: { kind: "acked", atMs: WORLD_START_MS + 1_005, by: "consumer", error: null },
      why: { reason: "finished", by: "consumer" },
    };
    expect(finishedIn(world)).toMatchObject([expected]);
    for (const name of [before?.id, before?.ref]) {
      const { messages } = lookAt(world, "", { max: 1, only: [name ?? ""], isWhole: true });
      expect(messages).toMatchObject([expected]);
      expect(messages.map(bodyOf)).toEqual(["lamp"]);
    }
  });

  it("has the error of a delivery of its own, and never that of the batch in which it was acknowledged", async () => {
    const world = worldOf({ consumer: consumer({ maxBatchSize: 2, maxRetries: 3, retryDelaySeconds: 1 }) });
    let threw = 0;
    world.handler = ({ messages }) => {
      threw += 1;
      if (threw > 2) return {};
      const error = `Error: number ${threw}`;
      // The first delivery fails for both, the second for the one that is not acknowledged before.
      const explicitAcks = threw === 1 ? [] : messages.filter(({ body }) => body === "a").map(({ id }) => id);
      return { outcome: "exception", error, explicitAcks };
    };
    await world.sendAndPass("orders", ["a", "b"], 60_000);
    expect(
      finishedIn(world).map((message) => [bodyOf(message), message.attempts, message.lastError]),
    ).toEqual([
      ["b", 3, "Error: number 2"],
      ["a", 2, "Error: number 1"],
    ]);
    expect(finishedIn(world, "error:2").map(bodyOf)).toEqual(["b"]);
    await world.sendAndPass("orders", ["c"], 60_000);
    threw = 1;
    await world.sendAndPass("orders", ["a", "c"], 60_000);
    expect(finishedIn(world, "").map(({ lastError }) => lastError)).toEqual([
      "Error: number 2",
      null,
      null,
      "Error: number 2",
      "Error: number 1",
    ]);
  });

  it("is in no other list, and in no count", async () => {
    const world = worldOf({ consumer: consumer(SINGLE) });
    await world.send("orders", ["gone"]);
    await world.quiet();
    world.handler = () => new Promise(() => {});
    await world.send("orders", ["held"]);
    await world.quiet();
    expect(lookAt(world)).toMatchObject({ messages: [{ state: "leased" }], matched: 1, of: 1, finished: 1 });
    for (const state of ["ready", "delayed"]) expect(lookAt(world, `state:${state}`).messages).toEqual([]);
    expect(lookAt(world, "gone").messages).toEqual([]);
    expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 0, leased: 1 });
    const [{ id = "" } = {}] = finishedIn(world);
    expect(lookAt(world, "", { only: [id], isWaiting: true }).messages).toEqual([]);
    expect(lookAt(world, "", { only: [id], countsAll: true })).toMatchObject({ messages: [], matched: 0 });
    expect(world.core("orders").messages.find({ only: [id] }, undefined, 10, 1_000).positions).toEqual([]);
  });

  it("is one of those of a batch that were acknowledged, and not one that is retried or moves on", async () => {
    const world = worldOf({
      consumer: consumer({ maxBatchSize: 3, maxRetries: 1, deadLetterQueue: "dead" }),
    });
    world.handler = ({ messages }) => ({
      explicitAcks: messages.filter(({ body }) => body !== "b").map(({ id }) => id),
      retryMessages: messages.filter(({ body }) => body === "b").map(({ id }) => ({ msgId: id })),
    });
    await world.sendAndPass("orders", ["a", "b", "c"], 5_000);
    expect(finishedIn(world).map(bodyOf)).toEqual(["c", "a"]);
    await world.pass(60_000);
    expect(finishedIn(world).map(bodyOf)).toEqual(["c", "a"]);
    expect(lookAt(world, "", {}, "dead").messages.map(bodyOf)).toEqual(["b"]);
  });

  it("is none that a late handler acknowledges when another one has it", async () => {
    const world = worldOf({ consumer: consumer({ ...SINGLE, maxRetries: 5 }) });
    const late = Promise.withResolvers<object>();
    world.handler = () => (world.seen.length === 1 ? late.promise : new Promise(() => {}));
    await world.send("orders", ["a"]);
    await world.quiet();
    const [{ ref = "" } = {}] = lookAt(world).messages;
    await world.core("orders").messages.makeDue([ref]);
    await world.quiet();
    late.resolve({});
    await world.quiet();
    expect(world.seen).toHaveLength(2);
    expect(finishedIn(world)).toEqual([]);
  });

  it("is one that a pull client acknowledges", async () => {
    const world = worldOf({ consumer: pullConsumer() });
    const client = new PullClient(world, "orders");
    await world.send("orders", ["a", "b"]);
    const [first] = await client.pull();
    await client.settle([first?.token ?? ""]);
    await client.settle([first?.token ?? ""]);
    expect(finishedIn(world)).toMatchObject([{ attempts: 1, end: { kind: "acked", by: "HTTP pull" } }]);
    expect(finishedIn(world).map(bodyOf)).toEqual(["a"]);
  });

  it.each(["orders", "orders.fifo"])("is one that an SQS client deletes: of %s", async (queue) => {
    const world = sqsWorld(queue);
    await world.enqueue(queue, "g-1", "g-2");
    const first = only(await world.receive(queue, { max: 1 }));
    await world.delete(queue, first);
    expect(finishedIn(world, "", queue)).toMatchObject([
      { id: first.id, attempts: 1, group: "g", end: { kind: "acked", by: "SQS" } },
    ]);
    expect(finishedIn(world, "group:g", queue).map(bodyOf)).toEqual(["g-1"]);
    expect(finishedIn(world, "group:h", queue)).toEqual([]);
  });

  it("is one that is deleted by hand, expires, or is given up without a dead-letter queue", async () => {
    const world = worldOf({ consumer: pullConsumer({ maxRetries: 0 }), messageRetentionSeconds: 60 });
    const client = new PullClient(world, "orders");
    await world.send("orders", ["dropped", "deleted", "expired"]);
    const [dropped] = await client.pull({ max: 1 });
    await client.settle([], [{ leaseId: dropped?.token ?? "" }]);
    const [{ ref = "" } = {}] = lookAt(world, "deleted").messages;
    await world.core("orders").deleteByRefs([ref]);
    await world.pass(60_000);
    await world.core("orders").wake();
    expect(finishedIn(world).map((message) => [bodyOf(message), message.end])).toMatchObject([
      ["expired", { kind: "expired", by: null, error: null }],
      ["deleted", { kind: "deleted" }],
      ["dropped", { kind: "dropped", error: "its client retried it" }],
    ]);
    // A handler can throw any text: it stands in no sentence of the broker's.
    expect(finishedIn(world).at(-1)?.why.text).toBe("It was given up, and there is no dead-letter queue.");
    expect(finishedIn(world).map(({ attempts }) => attempts)).toEqual([0, 0, 1]);
  });

  it("is none after a purge", async () => {
    const world = worldOf({ consumer: consumer(SINGLE) });
    await world.send("orders", ["a"]);
    await world.quiet();
    world.restart("orders");
    expect(finishedIn(world)).toHaveLength(1);
    await world.core("orders").purge();
    for (let i = 0; i < 2; i++) {
      expect(finishedIn(world)).toEqual([]);
      expect([...world.store("orders").journalHeads(1, 20_000, Infinity)]).toEqual([]);
      world.restart("orders");
    }
  });

  it("is found by every term of a filter", async () => {
    const world = worldOf({ consumer: consumer(SINGLE) });
    await world.sendAndPass("orders", ["red lamp"], 60_000);
    await world.sendAndPass("orders", ["blue lamp"]);
    const [blue, red] = finishedIn(world);
    for (const [terms, found] of [
      ["lamp", [blue, red]],
      ["red", [red]],
      ["age:>30s", [red]],
      ["age:<30s", [blue]],
      [`id:${blue?.id}`, [blue]],
      ["attempts:1", [blue, red]],
      ["attempts:>1", []],
      ["state:ready", []],
      ["from:x", []],
      ["attr.x:y", []],
    ] as const) {
      expect(finishedIn(world, terms), terms).toEqual(found);
    }
  });

  it("has the last error of its deliveries, which a filter and a count go by", async () => {
    const world = worldOf({ consumer: consumer({ ...SINGLE, maxRetries: 1 }) });
    let fails = true;
    world.handler = () => (fails ? { outcome: "exception", error: "Error: no card" } : {});
    await world.sendAndPass("orders", ["late"]);
    fails = false;
    await world.pass(60_000);
    fails = true;
    await world.sendAndPass("orders", ["dropped"], 60_000);
    fails = false;
    await world.sendAndPass("orders", ["at once"]);
    const lastErrors = finishedIn(world).map((message) => [bodyOf(message), message.lastError]);
    expect(lastErrors).toEqual([
      ["at once", null],
      ["dropped", "Error: no card"],
      ["late", "Error: no card"],
    ]);
    expect(finishedIn(world, "error:card").map(bodyOf)).toEqual(["dropped", "late"]);
    const counted = lookAt(world, "state:finished", { max: 0, countsAll: true, countsErrors: true });
    expect(counted).toMatchObject({
      messages: [],
      matched: 3,
      errors: { groups: [{ error: "Error: no card", count: 2 }], others: 0, none: 1 },
    });
  });

  it.each([
    [1, 2],
    [2, 2],
    [3, 3],
  ])(
    "is on a page of %i of %i, behind which another one comes only if there are more",
    async (max, known) => {
      const world = worldOf({ consumer: consumer(SINGLE) });
      for (let i = 0; i < known; i++) await world.sendAndPass("orders", [`${i}`]);
      const { messages, cursor, searched } = lookAt(world, "state:finished", { max });
      expect(messages).toHaveLength(max);
      expect([cursor === null, searched]).toEqual([max === known, max]);
    },
  );

  it("is on one page, newest first, while others come and go", async () => {
    const world = worldOf({ consumer: consumer(SINGLE), finishedMessages: 5 });
    for (const body of ["a", "b", "c", "d", "e"]) await world.sendAndPass("orders", [body]);
    const page = (cursor?: string) =>
      lookAt(world, "state:finished", { max: 2, ...(cursor === undefined ? {} : { cursor }) });
    const first = page();
    expect(first.messages.map(bodyOf)).toEqual(["e", "d"]);
    expect(first).toMatchObject({ searched: 2, of: 5 });
    await world.sendAndPass("orders", ["f"]);
    const second = page(first.cursor ?? "");
    expect(second.messages.map(bodyOf)).toEqual(["c", "b"]);
    expect(second).toMatchObject({ cursor: null, searched: 5, of: 5 });
    for (let i = 0; i < 5; i++) await world.sendAndPass("orders", ["g"]);
    expect(page(first.cursor ?? "")).toMatchObject({ messages: [], cursor: null });
    expect(() => page("x")).toThrow(RangeError);
    expect(() => lookAt(world, "state:finished", { max: 101 })).toThrow(RangeError);
  });
});

describe("what finished messages cost", () => {
  it.each<[string, boolean, Partial<QueueDefinition>, number]>([
    ["in development all of them", true, {}, 1],
    ["in development none without a history", true, { historySeconds: 0 }, 0],
    ["in development none if the queue is set to 0", true, { finishedMessages: 0 }, 0],
    ["elsewhere none", false, {}, 0],
    ["elsewhere none beside a history", false, { historySeconds: 60 }, 0],
    ["elsewhere as many as the queue is set to", false, { finishedMessages: 1 }, 1],
  ])("%s are kept", async (_what, keepsHistory, settings, kept) => {
    const world = new World({ orders: { consumer: consumer(SINGLE), ...settings } });
    world.keepsHistory = keepsHistory;
    await world.send("orders", ["a"]);
    await world.quiet();
    expect(finishedIn(world)).toHaveLength(kept);
    expect(lookAt(world).finished).toBe(kept === 0 ? undefined : 1);
    expect([...world.store("orders").journalHeads(1, 20_000, Infinity)]).toHaveLength(kept);
  });

  it("is a row a second, with that of what went well; a crash before it loses them", async () => {
    const world = worldOf({ consumer: consumer(SINGLE) });
    world.sharesCommits = true;
    const rows = () => [...world.store("orders").journalHeads(1, 20_000, Infinity)].length;
    for (let i = 0; i < 20; i++) {
      await world.send("orders", [`${i}`]);
      await world.quiet();
    }
    await world.core("orders").caughtUp();
    expect(rows()).toBe(0);
    expect(finishedIn(world)).toHaveLength(20);
    await world.pass(999);
    expect(rows()).toBe(0);
    const before = world.store("orders").commits;
    await world.pass(1);
    expect([rows(), world.store("orders").commits - before]).toEqual([1, 1]);
    await world.send("orders", ["lost"]);
    await world.quiet();
    world.crash("orders");
    expect(finishedIn(world).map(bodyOf)[0]).toBe("19");
    expect(finishedIn(world)).toHaveLength(20);
  });
});

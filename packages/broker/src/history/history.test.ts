import { type HistoryEvent, NAMED_IDS_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, packTexts, pullConsumer } from "../../test/messages.ts";
import { WORLD_START_MS, World, worldWithHistory } from "../../test/world.ts";
import { MINUTES_FIRST_SLOT } from "./figures/minutes.ts";
import { RING_SLOTS } from "./journal/journal.ts";

const SINGLE = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };
const FAILED = { outcome: "exception", error: "Error: no stock", stack: "Error: no stock\n    at shop.ts:3" };

/** Oldest first. */
function eventsOf(world: World, queue: string): HistoryEvent[] {
  return [...world.core(queue).history.list({ max: 500 }).events].reverse();
}

function kindsOf(world: World, queue: string): string[] {
  return eventsOf(world, queue).map(({ kind }) => kind);
}

describe("the history of a queue", () => {
  it("says who sent a message, who got it, and that it was handled", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
    await world.core("orders").send([{ packed: packTexts(["a"]) }], "shop");
    await world.quiet();
    const [accepted, delivered, acked] = eventsOf(world, "orders");
    const ids = accepted?.ids ?? [];
    expect(ids).toHaveLength(1);
    expect(accepted).toMatchObject({
      kind: "accepted",
      by: "shop",
      messages: 1,
      delayMs: null,
      queue: "orders",
    });
    expect(delivered).toMatchObject({ kind: "delivered", by: "consumer", attempt: 1, ids });
    expect(acked).toMatchObject({ kind: "acked", by: "consumer", batch: delivered?.batch, tookMs: 0 });
  });

  it("says with which delay, and why that delay", async () => {
    const world = worldWithHistory({ orders: { deliveryDelaySeconds: 5 } });
    await world.send("orders", ["by the queue"]);
    await world.send("orders", ["by the send"], { delaySeconds: 7 });
    await world.send("orders", ["own", "of the send"], { delaySeconds: 7, ownDelays: [9, undefined] });
    expect(eventsOf(world, "orders").map(({ delayMs, delayReason }) => [delayMs, delayReason])).toEqual([
      [5_000, "queue"],
      [7_000, "send"],
      [9_000, "message"],
      [7_000, "send"],
    ]);
  });

  it("says what failed with its stack, once for all that failed so, and when and why then it is retried", async () => {
    const world = worldWithHistory({
      orders: { consumer: consumer({ ...SINGLE, maxRetries: 1, retryDelaySeconds: 3 }) },
    });
    world.handler = () => FAILED;
    await world.sendAndPass("orders", ["a"], 10_000);
    const events = eventsOf(world, "orders");
    expect(events.map(({ kind }) => kind)).toEqual([
      ...["accepted", "delivered", "failed", "retried"],
      ...["delivered", "failed", "dropped"],
    ]);
    const [, , failed, retried, , again, dropped] = events;
    expect(failed).toMatchObject({ error: FAILED.stack, attempt: 1, by: "consumer", atMs: WORLD_START_MS });
    expect(retried).toMatchObject({ delayMs: 3_000, delayReason: "retryDelay", attempt: 1 });
    expect(again).toMatchObject({ error: FAILED.stack, attempt: 2, atMs: WORLD_START_MS + 3_000 });
    expect(dropped).toMatchObject({ error: "Error: no stock", ids: failed?.ids });
    const texts = [...world.store("orders").journalHeads(0)].filter(
      ({ slot }) => slot >= 2 * RING_SLOTS && slot < MINUTES_FIRST_SLOT,
    );
    expect(texts).toHaveLength(1);
  });

  it("tells retries that a handler asks for from those of a failure, and what was acknowledged with them", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer({ maxBatchSize: 3, maxRetries: 1 }) } });
    world.handler = ({ messages: [a, b] }) => ({
      explicitAcks: [a?.id ?? ""],
      retryMessages: [{ msgId: b?.id ?? "", delaySeconds: 8 }],
    });
    await world.send("orders", ["a", "b", "c"]);
    await world.quiet();
    const [accepted, , retried, acked] = eventsOf(world, "orders");
    expect(retried).toMatchObject({ kind: "retried", delayMs: 8_000, delayReason: "handler", messages: 1 });
    expect(retried?.ids).toEqual(accepted?.ids.slice(1, 2));
    expect(acked).toMatchObject({ kind: "acked", messages: 2 });
  });

  it("says that a consumer was not there", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
    world.running = false;
    await world.send("orders", ["a"]);
    await world.quiet();
    expect(eventsOf(world, "orders").at(-1)).toMatchObject({
      kind: "retried",
      delayReason: "absence",
      error: "the Worker is not running",
    });
  });

  it("says what clients pulled, acknowledged and retried", async () => {
    const world = worldWithHistory({ orders: { consumer: pullConsumer() } });
    await world.send("orders", ["a", "b"]);
    const pulled = await world.core("orders").pull({ max: 2 });
    const [ack = "", leaseId = ""] = pulled.ok ? pulled.batch.leaseIds : [];
    await world.core("orders").settleLeases({ acks: [ack], retries: [{ leaseId, delaySeconds: 4 }] });
    expect(eventsOf(world, "orders").slice(1)).toMatchObject([
      { kind: "delivered", by: "HTTP pull", messages: 2, attempt: 1 },
      { kind: "acked", by: "HTTP pull", messages: 1 },
      { kind: "retried", by: "HTTP pull", messages: 1, delayMs: 4_000, delayReason: "handler" },
    ]);
  });

  it("says what clients of SQS received and deleted", async () => {
    const world = worldWithHistory({ orders: {} });
    await world.send("orders", ["a"]);
    const reply = await world.core("orders").receivers.receive({ max: 1 });
    const [receipt = ""] = reply.kind === "received" ? reply.receipts : [];
    await world.core("orders").work({ remove: [receipt] });
    expect(eventsOf(world, "orders").slice(1)).toMatchObject([
      { kind: "delivered", by: "SQS", messages: 1, attempt: 1 },
      { kind: "acked", by: "SQS", messages: 1 },
    ]);
  });

  it("says what was done by hand, and what retention ended", async () => {
    const world = worldWithHistory({ orders: { messageRetentionSeconds: 60 } });
    await world.send("orders", ["a", "b"]);
    const { refs } = await world.core("orders").peek(1);
    await world.core("orders").deleteByRefs(refs);
    await world.pass(61_000);
    await world.send("orders", ["c"]);
    await world.core("orders").purge();
    const { queues } = world;
    await world.core("orders").reconfigure(
      () => Object.assign(queues, { orders: { ...queues.orders, deliveryPaused: true } }),
      () => {},
    );
    const events = eventsOf(world, "orders").map(({ kind, messages }) => [kind, messages]);
    expect(events).toEqual([
      ...[
        ["accepted", 2],
        ["deleted", 1],
        ["expired", 1],
      ],
      ...[
        ["accepted", 1],
        ["purged", 1],
        ["paused", 0],
      ],
    ]);
  });

  it("says that a delivery was cut off by a restart", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
    world.handler = () => new Promise(() => {});
    await world.send("orders", ["a"]);
    await world.quiet();
    world.crash("orders");
    world.handler = () => ({});
    await world.core("orders").wake();
    await world.quiet();
    expect(kindsOf(world, "orders")).toEqual(["accepted", "delivered", "retried", "delivered", "acked"]);
    expect(eventsOf(world, "orders")[2]).toMatchObject({ delayReason: "restart" });
  });

  it("is read page by page, and by kind", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
    for (let i = 0; i < 300; i++) await world.send("orders", ["a"]);
    await world.quiet();
    const { history } = world.core("orders");
    const numbers: number[] = [];
    let before: number | null = null;
    do {
      const page = history.list({ max: 70, ...(before === null ? {} : { before }) });
      numbers.push(...page.events.map(({ number }) => number));
      before = page.next;
    } while (before !== null);
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
    expect(new Set(numbers).size).toBe(numbers.length);
    const count = (kind: "accepted" | "acked") =>
      history.list({ max: 500, kinds: [kind] }).events.reduce((sum, { messages }) => sum + messages, 0);
    expect([count("accepted"), count("acked")]).toEqual([300, 300]);
  });

  it("knows the ids that begin so, of messages that are gone too, written or not", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
    for (let i = 0; i < NAMED_IDS_MAX + 1; i++) await world.send("orders", ["a"]);
    await world.quiet();
    const { history } = world.core("orders");
    const sent = eventsOf(world, "orders").filter(({ kind }) => kind === "accepted");
    const ids = sent.flatMap((event) => event.ids).reverse();
    expect(history.idsNamed(ids[0] ?? "")).toEqual(ids.slice(0, 1));
    expect(history.idsNamed(ids[0]?.slice(0, 8) ?? "")).toContain(ids[0]);
    expect(history.idsNamed("")).toEqual(ids.slice(0, NAMED_IDS_MAX));
    expect(history.idsNamed("g")).toEqual([]);
    // Digits in the middle of an id are not its beginning.
    expect(history.idsNamed(ids[0]?.slice(9) ?? "")).toEqual([]);
    world.crash("orders");
    expect(world.core("orders").history.idsNamed(ids.at(-1) ?? "")).toEqual(ids.slice(-1));
  });

  it("goes on after a restart behind what was written", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
    await world.send("orders", ["a"]);
    await world.quiet();
    const before = eventsOf(world, "orders");
    world.crash("orders");
    await world.send("orders", ["b"]);
    await world.quiet();
    expect(eventsOf(world, "orders").slice(0, 3)).toEqual(before);
    expect(eventsOf(world, "orders")).toHaveLength(6);
  });
});

describe("what a history costs", () => {
  it("is nothing where it is off", async () => {
    const rows = async (historySeconds: number | undefined, keeps: boolean) => {
      const world = new World({
        orders: { consumer: consumer(SINGLE), ...(historySeconds === undefined ? {} : { historySeconds }) },
      });
      world.keepsHistory = keeps;
      await world.send("orders", ["a"]);
      await world.quiet();
      return { rows: world.store("orders").rowsWritten, events: eventsOf(world, "orders").length };
    };
    const off = await rows(undefined, false);
    expect(off.events).toBe(0);
    expect(await rows(0, true)).toEqual(off);
    expect((await rows(undefined, true)).events).toBe(3);
    expect((await rows(3_600, false)).events).toBe(3);
  });

  it("is a row a second for what goes well and one for its minute, in a turn of its own where nothing else comes", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
    world.sharesCommits = true;
    const journalRows = () => [...world.store("orders").journalHeads(0)].length;
    for (let i = 0; i < 20; i++) {
      await world.send("orders", ["a"]);
      await world.quiet();
    }
    expect(journalRows()).toBe(0);
    expect(kindsOf(world, "orders").filter((kind) => kind === "accepted")).toHaveLength(20);
    const { rowsWritten } = world.store("orders");
    await world.pass(999);
    expect(journalRows()).toBe(0);
    await world.pass(1);
    expect(journalRows()).toBe(2);
    const { commits } = world.store("orders");
    await world.pass(60_000);
    expect(world.store("orders").commits).toBe(commits);
    expect(rowsWritten).toBeGreaterThan(0);
  });

  it("is written with its commit when something fails", async () => {
    const world = worldWithHistory({ orders: { consumer: consumer({ ...SINGLE, retryDelaySeconds: 60 }) } });
    world.sharesCommits = true;
    world.handler = () => FAILED;
    await world.send("orders", ["a"]);
    await world.quiet();
    world.crash("orders");
    expect(kindsOf(world, "orders")).toEqual(["failed", "retried"]);
  });

  it("is a row for the minute of what is recorded, in its commit, and no more of them than flushes", async () => {
    const world = worldWithHistory({ orders: { deliveryPaused: false } });
    world.sharesCommits = true;
    const core = world.core("orders");
    await core.purge();
    const { rowsWritten, commits } = world.store("orders");
    await core.purge();
    await core.purge();
    expect(world.store("orders").rowsWritten - rowsWritten).toBe(2);
    await world.pass(1_000);
    expect(world.store("orders").rowsWritten - rowsWritten).toBe(3);
    await world.pass(60_000);
    expect(world.store("orders").commits - commits).toBe(3);
    world.restart("orders");
    expect(world.core("orders").history.figures({ window: "1h" }).sinceMs).not.toBeNull();
  });

  it("does not lose what was before a move of the clock, also after a restart", async () => {
    const world = worldWithHistory({ orders: {}, quiet: {} });
    world.sharesCommits = true;
    await world.sendAndPass("orders", ["a", "b"], 1_000);
    const core = world.core("orders");
    // In the turn that moves the clock its time stands.
    await core.submit(() => {
      world.move(3_600_000);
      core.history.record({ kind: "purged", count: 1 });
    });
    await core.wake();
    await world.core("quiet").wake();
    await world.pass(1_000);
    expect([...world.store("quiet").journalHeads(0)]).toEqual([]);
    for (const isAgain of [false, true]) {
      if (isAgain) world.restart("orders");
      for (const window of ["5m", "1h", "24h"] as const) {
        const { counts, marks } = world.core("orders").history.figures({ window });
        const sum = (column: readonly number[] = []) => column.reduce((a, b) => a + b, 0);
        expect(Math.round(sum(counts.accepted))).toBe(2);
        expect(Math.round(sum(counts.purged))).toBe(1);
        expect(marks).toMatchObject([{ kind: "clockMoved", byMs: 3_600_000 }]);
      }
    }
  });

  it("is kept as long as the queue is set to", async () => {
    const world = new World({ orders: { historySeconds: 60 } });
    await world.sendAndPass("orders", ["a"], 59_999);
    expect(kindsOf(world, "orders")).toEqual(["accepted"]);
    await world.pass(1);
    expect(kindsOf(world, "orders")).toEqual([]);
  });
});

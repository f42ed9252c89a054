import type { MoveTask, NewMove } from "@sluice/protocol";
import { MOVE_MS_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { only, SqsWorld } from "../../test/sqs-world.ts";
import { WORLD_START_MS } from "../../test/world.ts";
import { MOVES_KEPT_MAX } from "./moves.ts";

const redrive = { deadLetterQueue: "dead", maxReceiveCount: 1 };

/** Two queues with the same dead-letter queue, which has received `letters`: "queue:body". */
async function withDead(...letters: string[]): Promise<SqsWorld> {
  const queues = new SqsWorld({
    orders: { receive: { redrive } },
    invoices: { receive: { redrive } },
    dead: {},
  });
  for (const letter of letters) {
    const [queue = "", body = ""] = letter.split(":");
    await queues.enqueue(queue, { body });
    await queues.bodies(queue, { visibilityTimeoutMs: 0 });
    await queues.bodies(queue);
    await queues.quiet();
  }
  return queues;
}

function begin(queues: SqsWorld, move: Partial<NewMove> = {}) {
  const all = { taskId: "task", target: null, ratePerSecond: null, ...move };
  return queues.core("dead").moves.begin(all);
}

const latest = (queues: SqsWorld): MoveTask => {
  const [task] = queues.core("dead").moves.list();
  if (task === undefined) throw new Error("there is no task");
  return task;
};

describe("a move task (spec sqs 6.4)", () => {
  it("gives each message back to the queue that it was dead-lettered from, as a new message", async () => {
    const queues = await withDead("orders:a", "invoices:b", "orders:c");
    const [letter] = await queues.receive("dead", { visibilityTimeoutMs: 0 });
    expect(letter).toMatchObject({ receiveCount: 2, extension: { deadLetterSource: "orders" } });
    await queues.pass(5_000);
    expect(await begin(queues)).toMatchObject({ ok: true, task: { status: "running", moved: 0, toMove: 3 } });
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 3, toMove: 3, failure: null });
    const back = await queues.receive("orders");
    expect(back.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
      ["a", 1],
      ["c", 1],
    ]);
    expect(back[0]?.id).not.toBe(letter?.id);
    expect(back[0]?.timestampMs).toBe(WORLD_START_MS + 5_000);
    expect(back[0]?.extension).toEqual({});
    expect(await queues.bodies("invoices")).toEqual(["b"]);
    expect(await queues.core("dead").messageCounts()).toEqual({ visible: 0, notVisible: 0, delayed: 0 });
  });

  it("returns what a consumer's dead_letter_queue has got, and keeps no age of it", async () => {
    const pull = { maxBatchSize: 10, maxRetries: 0, retryDelaySeconds: 0, visibilityTimeoutMs: 30_000 };
    const consumer = (deadLetterQueue: string) => ({
      consumer: { type: "http_pull" as const, settings: { ...pull, deadLetterQueue } },
    });
    const queues = new SqsWorld({
      orders: consumer("dead"),
      dead: { ...consumer("deader"), messageRetentionSeconds: 60 },
      deader: {},
    });
    await queues.enqueue("orders", "a", "b");
    const deadLetter = async (queue: string) => {
      for (let i = 0; i < 2; i++) await queues.bodies(queue, { visibilityTimeoutMs: 0 });
      await queues.quiet();
    };
    await queues.pass(59_000);
    await deadLetter("orders");
    await queues.pass(59_000);
    expect(await queues.core("dead").messageCounts()).toMatchObject({ visible: 2 });
    await begin(queues);
    await queues.pass(0);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 2 });
    const back = await queues.receive("orders", { visibilityTimeoutMs: 0 });
    expect(back.map(({ body, receiveCount, extension }) => [body, receiveCount, extension])).toEqual([
      ["a", 1, {}],
      ["b", 1, {}],
    ]);
    await deadLetter("orders");
    await deadLetter("dead");
    const [letter] = await queues.receive("deader");
    expect(letter?.extension).toEqual({ deadLetterOf: "dead" });
  });

  it("moves everything to one queue when it has a target", async () => {
    const queues = await withDead("orders:a", "invoices:b");
    await begin(queues, { target: "invoices" });
    await queues.pass(1_000);
    expect(await queues.bodies("invoices")).toEqual(["a", "b"]);
  });

  it("moves what has become visible by its start, though nothing has looked at the queue since", async () => {
    const queues = await withDead();
    await queues.enqueue(
      "dead",
      ...["a", "b", "c"].map((body) => ({ body, deadLetterSource: "orders", delaySeconds: 5 })),
    );
    queues.nowMs += 5_000;
    expect(await begin(queues)).toMatchObject({ task: { toMove: 3 } });
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 3 });
    expect(await queues.bodies("orders")).toEqual(["a", "b", "c"]);
  });

  it("moves nothing whose retention has ended", async () => {
    const queues = new SqsWorld({ orders: {}, dead: { messageRetentionSeconds: 60 } });
    await queues.enqueue("dead", { body: "a", deadLetterSource: "orders" });
    queues.nowMs += 60_000;
    expect(await begin(queues)).toMatchObject({ task: { toMove: 0 } });
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 0 });
    expect(await queues.bodies("orders")).toEqual([]);
  });

  it("waits for a directory that does not answer, longer each time", async () => {
    const queues = await withDead("orders:a");
    const { exists } = queues;
    let asked = 0;
    queues.exists = async () => {
      asked += 1;
      throw new Error("not reached");
    };
    await begin(queues);
    await queues.pass(60_000);
    expect(asked).toBe(7);
    expect(latest(queues)).toMatchObject({ status: "running", moved: 0 });
    queues.exists = exists;
    await queues.pass(30_000);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 1 });
  });

  it("takes no more at a time than memory has room for", async () => {
    const queues = await withDead();
    const large = "x".repeat(1_000_000);
    for (let i = 0; i < 20; i++) await queues.enqueue("dead", { body: large, deadLetterSource: "orders" });
    let isHeld = true;
    queues.carry = (_target, _transfer, deliver) => (isHeld ? new Promise(() => {}) : deliver());
    await begin(queues);
    await queues.quiet();
    expect(latest(queues)).toMatchObject({ status: "running", moved: 12 });
    isHeld = false;
    await queues.pass(60_000);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 20 });
  });

  it("keeps its rate: with one message a second the last of four leaves after three", async () => {
    const queues = await withDead("orders:a", "orders:b", "orders:c", "orders:d");
    await begin(queues, { ratePerSecond: 1 });
    await queues.pass(2_999);
    expect(latest(queues)).toMatchObject({ status: "running", moved: 3 });
    await queues.pass(1);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 4 });
  });

  it("moves whole messages at a rate that is a fraction, and keeps it", async () => {
    const queues = await withDead(...["a", "b", "c", "d", "e", "f", "g"].map((body) => `orders:${body}`));
    await begin(queues, { ratePerSecond: 2.5 });
    for (const moved of [3, 6]) {
      await queues.pass(1_000);
      expect(latest(queues)).toMatchObject({ status: "running", moved });
    }
    await queues.pass(400);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 7 });
  });

  it("is the only one that runs in its queue, and those before it are remembered", async () => {
    const queues = await withDead("orders:a", "orders:b");
    await begin(queues, { taskId: "first", ratePerSecond: 1 });
    expect(await begin(queues, { taskId: "second" })).toEqual({ ok: false, reason: "active" });
    await queues.pass(2_000);
    for (let i = 0; i < MOVES_KEPT_MAX; i++) {
      await begin(queues, { taskId: `later ${i}` });
      await queues.pass(1_000);
    }
    const ids = queues
      .core("dead")
      .moves.list()
      .map(({ taskId }) => taskId);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([MOVES_KEPT_MAX, "later 9", "later 0"]);
  });

  it("leaves what has not left when it is cancelled", async () => {
    const queues = await withDead("orders:a", "orders:b", "orders:c");
    await begin(queues, { ratePerSecond: 1 });
    await queues.pass(1_500);
    const { moves } = queues.core("dead");
    expect(await moves.cancel("task")).toMatchObject({ ok: true, task: { status: "cancelled", moved: 2 } });
    expect(await moves.cancel("task")).toEqual({ ok: false, reason: "notActive" });
    expect(await moves.cancel("other")).toEqual({ ok: false, reason: "unknown" });
    await queues.pass(10_000);
    expect(await queues.bodies("dead")).toEqual(["c"]);
  });

  it("fails when its target is deleted, and what was moved stays moved", async () => {
    const queues = await withDead("orders:a", "orders:b", "orders:c");
    await begin(queues, { target: "invoices", ratePerSecond: 1 });
    await queues.pass(1_500);
    delete queues.queues.invoices;
    await queues.pass(5_000);
    expect(latest(queues)).toMatchObject({ status: "failed", failure: "targetNotFound", moved: 2 });
    expect(await queues.core("dead").messageCounts()).toMatchObject({ visible: 1 });
    expect(queues.lines.join()).toContain("a move task has failed after 2 messages: targetNotFound");
  });

  it("fails when a message does not say where it comes from, or that queue is gone, and keeps it", async () => {
    const queues = await withDead();
    await queues.enqueue("dead", "straight");
    await begin(queues);
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ status: "failed", failure: "sourceUnknown", moved: 0 });
    const gone = await withDead("orders:a");
    delete gone.queues.orders;
    await begin(gone);
    await gone.pass(1_000);
    expect(latest(gone)).toMatchObject({ status: "failed", failure: "targetNotFound", moved: 0 });
    for (const world of [queues, gone]) {
      expect(only(await world.receive("dead")).receiveCount).toBe(world === gone ? 2 : 1);
    }
  });

  it("gives messages that do not say where they come from to the fallback, and the others back", async () => {
    const queues = await withDead("orders:a");
    await queues.enqueue("dead", { body: "b" });
    await begin(queues, { fallback: "invoices" });
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ status: "completed", moved: 2 });
    expect(await queues.bodies("orders")).toEqual(["a"]);
    expect(await queues.bodies("invoices")).toEqual(["b"]);
  });

  it("ends after 36 hours", async () => {
    const queues = await withDead("orders:a", "orders:b");
    await begin(queues, { ratePerSecond: 1 });
    queues.nowMs += MOVE_MS_MAX;
    await queues.pass(1_000);
    expect(latest(queues)).toMatchObject({ status: "failed", failure: "tookTooLong" });
  });

  it("keeps the order of each group of a FIFO queue", async () => {
    const queues = new SqsWorld({ "orders.fifo": {}, "dead.fifo": {} });
    await queues.enqueue("dead.fifo", "g-1", "h-1", "g-2", "h-2", "g-3");
    await queues.core("dead.fifo").moves.begin({ taskId: "t", target: "orders.fifo", ratePerSecond: 2 });
    await queues.pass(5_000);
    expect(await queues.bodies("orders.fifo")).toEqual(["g-1", "g-2", "g-3", "h-1", "h-2"]);
  });

  it("goes on after a crash at every write, and neither loses a message nor makes one twice", async () => {
    for (let k = 1; k <= 40; k++) {
      const queues = await withDead("orders:a", "orders:b", "invoices:c");
      await begin(queues, { ratePerSecond: 2 });
      queues.store("dead").failWrite(k);
      queues.store("orders").failWrite(k);
      for (let round = 0; round < 4; round++) {
        await queues.pass(40_000);
        queues.crash("dead");
      }
      await queues.pass(40_000);
      for (const name of ["dead", "orders"]) queues.store(name).failWrite(Number.POSITIVE_INFINITY);
      const [orders, invoices] = [await queues.bodies("orders"), await queues.bodies("invoices")];
      expect([k, orders, invoices]).toEqual([k, ["a", "b"], ["c"]]);
      expect(latest(queues)).toMatchObject({ status: "completed", moved: 3 });
      expect(await queues.core("dead").messageCounts()).toEqual({ visible: 0, notVisible: 0, delayed: 0 });
    }
  });
});

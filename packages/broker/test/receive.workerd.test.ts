import type { EnqueueReply, QueueReceiveRpc, ReceiveReply } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BrokerHarness, folderOfTest, type QueueStub, startBroker } from "./harness.ts";
import { consumer } from "./messages.ts";
import { only, packToSend, seenIn, type ToSend } from "./sqs-world.ts";

let persistDir: string;
let broker: BrokerHarness;

const QUEUES = {
  orders: { receive: { redrive: { deadLetterQueue: "dead", maxReceiveCount: 1 } } },
  dead: { receive: {} },
  pushed: { consumer: consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 60 }) },
  "orders.fifo": { fifo: { deduplicationScope: "queue" as const }, receive: {} },
};

beforeEach(async () => {
  persistDir = folderOfTest();
  broker = await startBroker({ queues: QUEUES, persistDir });
});

afterEach(async () => {
  await broker.stop();
});

async function objectOf(queue: string): Promise<QueueStub & QueueReceiveRpc> {
  return (await broker.queue(queue)) as QueueStub & QueueReceiveRpc;
}

async function send(queue: string, ...messages: ToSend[]): Promise<EnqueueReply> {
  const reply = await (await objectOf(queue)).work(queue, { enqueue: { packed: packToSend(messages) } });
  const stored = reply.ok ? reply.enqueued : reply;
  if (stored === undefined) throw new Error("a batch without an answer");
  return stored;
}

async function receive(queue: string, request = {}): Promise<ReceiveReply> {
  return (await objectOf(queue)).receive(queue, { max: 10, ...request });
}

/** Kills the process and starts another one on the same files. */
async function restart(): Promise<void> {
  await broker.kill();
  await broker.stop();
  broker = await startBroker({ queues: QUEUES, persistDir });
}

describe("receivers of a queue's object", () => {
  it("wait for a send, for a visibility timeout and for a delay, and no longer than they want", async () => {
    const first = receive("orders", { waitMs: 20_000, visibilityTimeoutMs: 300 });
    // An object that runs calls in order has begun with the receive when it answers this.
    await (await objectOf("orders")).messageCounts("orders");
    await send("orders", { body: "m" });
    expect(only(seenIn(await first)).body).toBe("m");
    const dead = receive("dead", { waitMs: 20_000 });
    // The receive that finds the message again moves it, and goes on waiting.
    expect(await receive("orders", { waitMs: 600 })).toEqual({ kind: "empty" });
    expect(only(seenIn(await dead))).toMatchObject({ body: "m", extension: { deadLetterSource: "orders" } });
    await send("orders", { body: "later", delaySeconds: 1 });
    expect(only(seenIn(await receive("orders", { waitMs: 20_000 }))).body).toBe("later");
  });

  it("get nothing once they have been cancelled", async () => {
    const gone = receive("orders", { waitMs: 20_000, receiverId: "gone" });
    const object = await objectOf("orders");
    await object.messageCounts("orders");
    await object.cancelReceive("orders", "gone");
    expect(await gone).toEqual({ kind: "empty" });
    await send("orders", { body: "m" });
    expect(seenIn(await receive("orders"))).toHaveLength(1);
  });

  it("are answered in the emulator's time", async () => {
    const reply = receive("orders", { waitMs: 20_000 });
    const object = await objectOf("orders");
    await object.messageCounts("orders");
    await object.advanceClock("orders", 20_000);
    expect(await reply).toEqual({ kind: "empty" });
  });

  it("find after kill -9 what they had: receipts, blocked groups, deduplication ids, counts", async () => {
    const d1 = { body: "1", groupId: "g", deduplicationId: "d1" };
    const sent = await send("orders.fifo", d1, { body: "2", groupId: "g", deduplicationId: "d2" });
    if (sent.ok !== true || sent.messages === null) throw new Error("nothing was sent");
    // What a stub has answered with cannot be looked at after its process has ended.
    const [first, second] = sent.messages.map((message) => ({ ...message }));
    const held = only(seenIn(await receive("orders.fifo", { max: 1, visibilityTimeoutMs: 60_000 })));
    await restart();
    expect(await receive("orders.fifo")).toEqual({ kind: "empty" });
    const again = await send("orders.fifo", d1);
    expect(again).toMatchObject({ ok: true, messages: [{ ...first, duplicate: true }] });
    const object = await objectOf("orders.fifo");
    const change = { receipt: held.receipt, visibilityTimeoutMs: 0 };
    expect(await object.work("orders.fifo", { change: [change] })).toEqual({
      ok: true,
      changed: ["changed"],
    });
    const seen = seenIn(await receive("orders.fifo"));
    expect(
      seen.map(({ body, receiveCount, sequenceNumber }) => [body, receiveCount, sequenceNumber]),
    ).toEqual([
      ["1", 2, first?.sequenceNumber],
      ["2", 1, second?.sequenceNumber],
    ]);
    const receipts = [...seen.map(({ receipt }) => receipt), held.receipt, "garbage"];
    expect(await object.work("orders.fifo", { remove: receipts })).toEqual({
      ok: true,
      removed: ["deleted", "deleted", "deleted", "invalid"],
    });
    expect(await object.messageCounts("orders.fifo")).toEqual({ visible: 0, notVisible: 0, delayed: 0 });
  });

  it("get back what a move task returns, and its target must exist", async () => {
    await send("dead", { body: "m", deadLetterSource: "orders" });
    const object = await objectOf("dead");
    const move = { taskId: "t", target: null, ratePerSecond: null };
    const waits = receive("orders", { waitMs: 20_000 });
    expect(await object.startMove("dead", move)).toMatchObject({ ok: true, task: { toMove: 1 } });
    expect(only(seenIn(await waits)).body).toBe("m");
    expect(await object.listMoves("dead")).toMatchObject([{ status: "completed", moved: 1 }]);
    await send("dead", { body: "n" });
    await object.startMove("dead", { ...move, taskId: "t2", target: "nowhere" });
    await expect
      .poll(() => object.listMoves("dead"))
      .toMatchObject([{ status: "failed", failure: "targetNotFound" }, { taskId: "t" }]);
  });

  it("of a queue that does not exist are refused", async () => {
    expect(await broker.refusal("nowhere", "receive", "nowhere", { max: 1 })).toContain(
      "does not exist (10104)",
    );
    expect(await send("nowhere", { body: "m" })).toMatchObject({ ok: false, code: 10104 });
  });
});

it("messages that are larger than any of Cloudflare's reach a Worker in batches that a call can carry", {
  tags: "slow",
}, async () => {
  const body = "x".repeat(1_048_576);
  const sizes = Array.from({ length: 34 }, (_, i) => i);
  for (const i of sizes)
    expect(await send("pushed", { body: `${body.slice(2)}${i % 10}` })).toMatchObject({ ok: true });
  await (await objectOf("pushed")).advanceClock("pushed", 60_000);
  await broker.until((seen) => seen.reduce((sum, { messages }) => sum + messages.length, 0) === 34);
  expect(broker.seen.map(({ messages }) => messages.length)).toEqual([12, 12, 10]);
});

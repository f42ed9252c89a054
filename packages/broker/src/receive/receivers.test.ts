import {
  IN_FLIGHT_MAX,
  RECEIVE_NOW_BYTES_MAX,
  type ReceiveNowReply,
  type ReceiveReply,
} from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { only, packToSend, SqsWorld, seenIn } from "../../test/sqs-world.ts";
import { WORLD_START_MS } from "../../test/world.ts";

const world = (changes = {}) => new SqsWorld({ orders: changes });

/** Returns the value of a promise, or "waits" while it is pending. */
async function stateOf<Value>(promise: Promise<Value>): Promise<Value | "waits"> {
  return Promise.race([promise, new Promise<"waits">((resolve) => setImmediate(() => resolve("waits")))]);
}

it("what several requests want of a queue is done in one commit: deletes, then sends, then receives", async () => {
  const queues = world();
  await queues.enqueue("orders", "a");
  const [held] = await queues.receive("orders", { visibilityTimeoutMs: 20_000 });
  const { commits } = queues.store("orders");
  const packed = packToSend([{ body: "b" }]);
  const done = await queues
    .core("orders")
    .work({
      enqueue: { packed },
      remove: [held?.receipt ?? "", "garbage"],
      change: [{ receipt: "garbage", visibilityTimeoutMs: 0 }],
      receive: [{ max: 10 }, { max: 10, waitMs: 20_000 }],
    });
  expect(done).toMatchObject({
    enqueued: { ok: true, messages: null },
    removed: ["deleted", "invalid"],
    changed: ["invalid"],
  });
  expect(
    done.received?.map((reply) => (reply.kind === "received" ? seenIn(reply)[0]?.body : reply.kind)),
  ).toEqual(["b", "empty"]);
  expect(queues.store("orders").commits).toBe(commits + 1);
  expect(await queues.core("orders").work({ remove: [] })).toEqual({ removed: [] });
  expect(await queues.core("orders").work({})).toEqual({});
});

describe("receives of one call that wait for nothing", () => {
  const now = async (queues: SqsWorld, count: number) => {
    const receive = Array.from({ length: count }, () => ({ max: 2, waitMs: 20_000 }));
    const { received = [] } = await queues.core("orders").work({ receive });
    return received;
  };
  const bodiesOf = (reply: ReceiveNowReply) =>
    reply.kind === "received" ? seenIn(reply).map(({ body }) => body) : reply.kind;

  it("are served in order, in one commit", async () => {
    const queues = world();
    await queues.enqueue("orders", "a", "b", "c");
    const { commits } = queues.store("orders");
    expect((await now(queues, 3)).map(bodiesOf)).toEqual([["a", "b"], ["c"], "empty"]);
    expect(queues.store("orders").commits).toBe(commits + 1);
  });

  it("take messages up to the bytes of one answer; the other receives have to be repeated alone", async () => {
    const queues = world();
    const large = "x".repeat(1_000_000);
    const count = RECEIVE_NOW_BYTES_MAX / large.length + 2;
    for (let i = 0; i < count; i++) await queues.enqueue("orders", large);
    const replies = await now(queues, count / 2 + 1);
    const kinds = replies.map(({ kind }) => kind);
    expect(kinds).toEqual([...Array(count / 2 - 1).fill("received"), "unserved", "unserved"]);
    expect(await queues.bodies("orders", { max: 10 })).toHaveLength(2);
  });
});

describe("a receive", () => {
  it("gives messages with what is known of them", async () => {
    const queues = world();
    const sent = only(
      await queues.enqueue("orders", { body: "m", groupId: "g", attributes: new Uint8Array([1]) }),
    );
    await queues.pass(1_000);
    const message = only(await queues.receive("orders"));
    expect(message).toMatchObject({
      id: sent.messageId,
      body: "m",
      timestampMs: WORLD_START_MS,
      extension: { groupId: "g", attributes: new Uint8Array([1]) },
      receiveCount: 1,
      firstReceivedMs: WORLD_START_MS + 1_000,
      sequenceNumber: null,
    });
    expect(message.receipt).toMatch(/^[\w-]{1,1024}$/);
  });

  it("hides them for the queue's visibility timeout, or its own", async () => {
    const queues = world({ receive: { visibilityTimeoutMs: 5_000 } });
    await queues.enqueue("orders", "a", "b");
    expect(await queues.bodies("orders", { max: 1 })).toEqual(["a"]);
    expect(await queues.bodies("orders", { max: 1, visibilityTimeoutMs: 10_000 })).toEqual(["b"]);
    await queues.pass(4_999);
    expect(await queues.bodies("orders")).toEqual([]);
    await queues.pass(1);
    expect(await queues.bodies("orders")).toEqual(["a"]);
    await queues.pass(5_000);
    const again = await queues.receive("orders");
    expect(again.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
      ["a", 3],
      ["b", 2],
    ]);
  });

  it("hides them for 30 s where neither the queue nor the request has a timeout", async () => {
    const queues = world();
    await queues.enqueue("orders", "a");
    await queues.bodies("orders");
    await queues.pass(29_999);
    expect(await queues.bodies("orders")).toEqual([]);
    await queues.pass(1);
    expect(await queues.bodies("orders")).toEqual(["a"]);
  });

  it("is answered when its lease is durable, not before", async () => {
    const queues = world();
    await queues.enqueue("orders", "a");
    queues.store("orders").hold();
    const reply = queues.ask("orders");
    expect(await stateOf(reply)).toBe("waits");
    queues.store("orders").release();
    expect(seenIn(await reply)).toHaveLength(1);
  });

  it("counts and remembers over a crash, and its receipts stay good", async () => {
    const queues = world();
    await queues.enqueue("orders", "a", "b");
    const [first] = await queues.receive("orders", { visibilityTimeoutMs: 60_000 });
    if (first === undefined) throw new Error("nothing was received");
    queues.crash("orders");
    expect(await queues.bodies("orders")).toEqual([]);
    expect(await queues.setVisibility("orders", first, 0)).toBe("changed");
    const again = only(await queues.receive("orders"));
    expect(again).toMatchObject({ body: "a", receiveCount: 2, firstReceivedMs: WORLD_START_MS });
    queues.crash("orders");
    expect(await queues.delete("orders", again)).toEqual(["deleted"]);
    expect(await queues.core("orders").messageCounts()).toEqual({ visible: 0, notVisible: 1, delayed: 0 });
  });

  it("refuses what its edge should have refused", async () => {
    const queues = world();
    for (const request of [
      { max: 0 },
      { max: 11 },
      { waitMs: 20_001 },
      { visibilityTimeoutMs: 43_200_001 },
    ]) {
      await expect(queues.ask("orders", request)).rejects.toThrow(RangeError);
    }
    const most = { max: 10, waitMs: 20_000, visibilityTimeoutMs: 43_200_000 };
    await queues.enqueue("orders", "a");
    expect(await queues.bodies("orders", most)).toEqual(["a"]);
  });

  it("gives nothing while delivery is paused", async () => {
    const queues = world({ deliveryPaused: true });
    await queues.enqueue("orders", "a");
    expect(await queues.ask("orders")).toEqual({ kind: "empty" });
    const waits = queues.ask("orders", { waitMs: 2_000 });
    await queues.pass(2_000);
    expect(await waits).toEqual({ kind: "empty" });
  });
});

describe("a long poll (spec sqs 7)", () => {
  it("is answered with nothing at its end, not earlier", async () => {
    const queues = world();
    const reply = queues.ask("orders", { waitMs: 5_000 });
    await queues.pass(4_999);
    expect(await stateOf(reply)).toBe("waits");
    await queues.pass(1);
    expect(await stateOf(reply)).toEqual({ kind: "empty" });
  });

  it("waits as long as the queue says, and not at all when the request says 0", async () => {
    const queues = world({ receive: { waitMs: 3_000 } });
    expect(await stateOf(queues.ask("orders", { waitMs: 0 }))).toEqual({ kind: "empty" });
    const reply = queues.ask("orders");
    await queues.pass(2_999);
    expect(await stateOf(reply)).toBe("waits");
    await queues.pass(1);
    expect(await stateOf(reply)).toEqual({ kind: "empty" });
  });

  it("is answered by the send, without waiting for more", async () => {
    const queues = world();
    const reply = queues.receive("orders", { max: 3, waitMs: 5_000 });
    await queues.quiet();
    await queues.enqueue("orders", "a", "b");
    expect((await reply).map(({ body }) => body)).toEqual(["a", "b"]);
  });

  it("is answered when a delay ends, and when a visibility timeout does", async () => {
    const queues = world();
    await queues.enqueue("orders", { body: "later", delaySeconds: 1 });
    const first = queues.receive("orders", { waitMs: 2_000, visibilityTimeoutMs: 1_500 });
    await queues.pass(1_000);
    expect(only(await first).body).toBe("later");
    const second = queues.receive("orders", { waitMs: 20_000 });
    await queues.pass(1_499);
    expect(await stateOf(second)).toBe("waits");
    await queues.pass(1);
    expect(only(await second).body).toBe("later");
  });

  it("is answered by a change of visibility to 0", async () => {
    const queues = world();
    await queues.enqueue("orders", "a");
    const held = only(await queues.receive("orders"));
    const reply = queues.receive("orders", { waitMs: 20_000 });
    await queues.quiet();
    await queues.setVisibility("orders", held, 0);
    expect(only(await reply).body).toBe("a");
  });

  it("a long poll of a FIFO queue is answered by the delete that frees its group", async () => {
    const queues = new SqsWorld({ "orders.fifo": {} });
    await queues.enqueue("orders.fifo", "g-1", "g-2");
    const held = only(await queues.receive("orders.fifo", { max: 1 }));
    const reply = queues.receive("orders.fifo", { waitMs: 20_000 });
    await queues.quiet();
    await queues.delete("orders.fifo", held);
    expect(only(await reply).body).toBe("g-2");
  });

  it("is answered by dead letters that come in", async () => {
    const queues = new SqsWorld({
      orders: { receive: { redrive: { deadLetterQueue: "dead", maxReceiveCount: 1 } } },
      dead: {},
    });
    const reply = queues.receive("dead", { waitMs: 20_000 });
    await queues.enqueue("orders", "a");
    await queues.receive("orders", { visibilityTimeoutMs: 0 });
    expect(await queues.bodies("orders")).toEqual([]);
    expect(only(await reply).body).toBe("a");
  });

  it("is served first come, first served", async () => {
    const queues = world();
    const replies = [1, 2, 3].map(() => queues.receive("orders", { max: 1, waitMs: 5_000 }));
    await queues.quiet();
    await queues.enqueue("orders", "a", "b");
    const [first, second, third] = replies;
    expect([await first, await second].map((reply) => reply?.map(({ body }) => body))).toEqual([
      ["a"],
      ["b"],
    ]);
    await queues.pass(5_000);
    expect(await third).toEqual([]);
  });

  it("takes no message once its caller has gone", async () => {
    const queues = world();
    const reply = queues.ask("orders", { waitMs: 5_000, receiverId: "gone" });
    const other = queues.receive("orders", { waitMs: 5_000, receiverId: "there" });
    await queues.quiet();
    queues.core("orders").receivers.cancel("gone");
    await queues.enqueue("orders", "a");
    expect(await reply).toEqual({ kind: "empty" });
    expect(only(await other).body).toBe("a");
  });

  it("asks for one moment, however many clients wait, and for none when none does", async () => {
    const queues = world();
    const waits = [3_000, 1_000, 2_000].map((waitMs) => queues.ask("orders", { waitMs }));
    await queues.quiet();
    expect(queues.core("orders").receivers.wakeAtMs).toBe(WORLD_START_MS + 1_000);
    await queues.pass(3_000);
    await Promise.all(waits);
    expect(queues.core("orders").receivers.wakeAtMs).toBeNull();
  });

  it("is rejected when the commit of what it got fails, and the message is there again", async () => {
    const queues = world();
    const reply = queues.ask("orders", { waitMs: 5_000 }).catch((error: unknown) => String(error));
    await queues.quiet();
    // The first commit of a queue writes the name, then the message and its lease are one row.
    queues.store("orders").failWrite(2);
    await expect(queues.enqueue("orders", "a")).rejects.toThrow("the disk failed");
    expect(await reply).toContain("the disk failed");
    await queues.enqueue("orders", "b");
    expect(await queues.bodies("orders")).toEqual(["b"]);
  });
});

describe("the limit of messages in flight (spec sqs 3.5)", () => {
  /** A queue with one message and `inFlight` others in flight. */
  async function withInFlight(queue: string, inFlight: number): Promise<SqsWorld> {
    const queues = new SqsWorld({ [queue]: {} });
    await queues.enqueue(queue, "g-x", "h-x", "i-x");
    // What the figure counts is tested in the engine; sending 120,000 messages here would take long.
    queues.core(queue).queue.leasedCount = inFlight;
    return queues;
  }

  it.each<[string, number, number, ReceiveReply["kind"]]>([
    ["orders", IN_FLIGHT_MAX - 2, 2, "received"],
    ["orders", IN_FLIGHT_MAX - 1, 1, "received"],
    ["orders", IN_FLIGHT_MAX, 0, "overLimit"],
    ["orders", IN_FLIGHT_MAX + 1, 0, "overLimit"],
    ["orders.fifo", IN_FLIGHT_MAX - 1, 1, "received"],
    ["orders.fifo", IN_FLIGHT_MAX, 0, "empty"],
  ])("lets a short poll of %s with %i in flight have %i: %s", async (queue, inFlight, count, kind) => {
    const queues = await withInFlight(queue, inFlight);
    const reply = await queues.ask(queue);
    expect([seenIn(reply).length, reply.kind]).toEqual([count, kind]);
  });

  it("lets a long poll wait until there is room", async () => {
    const queues = await withInFlight("orders", IN_FLIGHT_MAX - 1);
    const held = only(await queues.receive("orders", { visibilityTimeoutMs: 600_000 }));
    const reply = queues.receive("orders", { waitMs: 5_000 });
    expect(await stateOf(reply)).toBe("waits");
    await queues.delete("orders", held);
    expect(await reply).toHaveLength(1);
    const empty = queues.ask("orders", { waitMs: 5_000 });
    await queues.pass(5_000);
    expect(await empty).toEqual({ kind: "empty" });
  });
});

describe("receipts", () => {
  it("receipts of another queue and garbage are invalid, for deletes and for changes", async () => {
    const queues = new SqsWorld({ orders: {}, invoices: {} });
    await queues.enqueue("orders", "a");
    const held = only(await queues.receive("orders"));
    await queues.enqueue("invoices", "b");
    const texts = [
      "",
      "garbage",
      `${held.receipt}A`,
      held.receipt.replace(/^./, (c) => (c === "A" ? "B" : "A")),
    ];
    const { removed } = await queues.core("orders").work({ remove: texts });
    expect(removed).toEqual(texts.map(() => "invalid"));
    expect(await queues.delete("invoices", held)).toEqual(["invalid"]);
    expect(await queues.setVisibility("invoices", held, 5)).toBe("invalid");
    expect(await queues.delete("orders", held, held)).toEqual(["deleted", "deleted"]);
    expect(await queues.setVisibility("orders", held, 5)).toBe("gone");
  });

  it("extend up to 12 hours after their receive", async () => {
    const queues = world();
    await queues.enqueue("orders", "a");
    const held = only(await queues.receive("orders"));
    await queues.pass(1_000);
    expect(await queues.setVisibility("orders", held, 43_199_001)).toBe("overTotal");
    expect(await queues.setVisibility("orders", held, 43_199_000)).toBe("changed");
    await expect(queues.setVisibility("orders", held, 43_200_001)).rejects.toThrow(RangeError);
  });
});

it("messages that cannot be read are reported and passed over", async () => {
  const queues = world();
  await queues.enqueue("orders", "a", "b");
  queues.crash("orders");
  queues.store("orders").damage(({ segments }) => {
    for (const { payload } of segments.values()) payload[6] = 0xff;
  });
  expect(await queues.bodies("orders")).toEqual(["b"]);
  expect(queues.core("orders").damage.entries).toMatchObject([{ kind: "messagesLost", messagesLost: 1 }]);
  expect(await queues.core("orders").messageCounts()).toEqual({ visible: 0, notVisible: 1, delayed: 0 });
});

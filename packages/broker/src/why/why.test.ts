import type { QueueDefinition, Why } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, endpoint, pullConsumer } from "../../test/messages.ts";
import { only, SqsWorld } from "../../test/sqs-world.ts";
import { WORLD_START_MS, World } from "../../test/world.ts";
import { DRAIN_MS } from "../endpoint/worker-daemon.ts";
import { Messages } from "../look/messages.ts";
import { BACKOFF_FIRST_MS } from "../platform/backoff.ts";

const one = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxConcurrency: 1 };

/** Why the message of a body is not delivered. */
function whyOf(world: World, queue: string, body: string): Why {
  const { messages } = world.core(queue).messages.look({ max: 100, filter: [{ field: "body", text: body }] });
  return only(messages).why;
}

const queueWhy = (world: World, queue: string) => world.core(queue).messages.why();
const at = (ms: number) => new Date(WORLD_START_MS + ms).toISOString();
const never = () => new Promise<never>(() => {});

function orders(settings: Parameters<typeof consumer>[0], changes: Partial<QueueDefinition> = {}): World {
  return new World({ orders: { consumer: consumer(settings), ...changes } });
}

describe("why a message is not delivered", () => {
  it("delayed: by its own send, by the queue, by a batch, or before another attempt", async () => {
    const world = orders({ ...one, retryDelaySeconds: 30 }, { deliveryDelaySeconds: 9 });
    await world.send("orders", ["own"], { ownDelays: [60] });
    expect(queueWhy(world, "orders").text).toBe(`1 message is delayed, until ${at(60_000)}.`);
    await world.send("orders", ["queue"]);
    await world.send("orders", ["batch"], { delaySeconds: 20 });
    expect(whyOf(world, "orders", "own")).toEqual({
      reason: "delayed",
      text: `It is due at ${at(60_000)}: its send asked for a delay of 60 s.`,
      untilMs: WORLD_START_MS + 60_000,
      by: null,
    });
    expect(whyOf(world, "orders", "queue")).toMatchObject({
      text: `It is due at ${at(9_000)}: the queue's delivery_delay is 9 s.`,
    });
    expect(whyOf(world, "orders", "batch")).toMatchObject({
      reason: "delayed",
      text: expect.stringContaining("of its batch"),
    });
    expect(queueWhy(world, "orders")).toMatchObject({
      reason: "delayed",
      text: `3 messages are delayed, the first of them until ${at(9_000)}.`,
      untilMs: WORLD_START_MS + 9_000,
      also: [],
    });
    world.handler = () => ({ retryBatch: { retry: true } });
    await world.pass(9_000);
    expect(whyOf(world, "orders", "queue")).toMatchObject({
      reason: "delayed",
      text: `It is due at ${at(39_000)}: delivery 1 has failed or asked for a retry, and the next one waits.`,
    });
  });

  it("leased: by the Worker that works on it, or a client that has it", async () => {
    const world = orders(one);
    world.handler = never;
    await world.send("orders", ["pushed"]);
    await world.quiet();
    const untilMs = WORLD_START_MS + 910_000;
    expect(whyOf(world, "orders", "pushed")).toEqual({
      reason: "leased",
      text: `"consumer" works on it, until ${at(910_000)} at the latest: delivery 1.`,
      untilMs,
      by: "consumer",
    });
    expect(queueWhy(world, "orders")).toMatchObject({
      reason: "leased",
      text: "The only message is leased: a consumer or a client works on it.",
      untilMs,
      messages: { ready: 0, delayed: 0, leased: 1 },
    });
    // Its time is up, and no turn has seen it.
    world.nowMs += 910_000;
    expect(whyOf(world, "orders", "pushed").text).toContain("its time was up");
    const pulled = new World({ orders: { consumer: pullConsumer() } });
    await pulled.send("orders", ["m"]);
    await pulled.core("orders").pull({});
    expect(whyOf(pulled, "orders", "m")).toMatchObject({ reason: "leased", by: null });
    expect(whyOf(pulled, "orders", "m").text).toContain("A client has pulled it");
    const received = new SqsWorld({ orders: {} });
    await received.enqueue("orders", "m");
    await received.receive("orders", { visibilityTimeoutMs: 7_000 });
    expect(whyOf(received, "orders", "m")).toMatchObject({
      reason: "leased",
      untilMs: WORLD_START_MS + 7_000,
    });
    expect(whyOf(received, "orders", "m").text).toContain("A client has received it");
  });

  it("groupBlocked: by the message of its group that comes first", async () => {
    const world = new SqsWorld({ "orders.fifo": {} });
    const [first] = await world.enqueue("orders.fifo", "a-1", "a-2", "b-3");
    expect(whyOf(world, "orders.fifo", "a-2").reason).toBe("noConsumer");
    await world.receive("orders.fifo", { max: 1 });
    expect(whyOf(world, "orders.fifo", "a-2")).toEqual({
      reason: "groupBlocked",
      text: `Message ${first?.messageId} of its group comes before it and has to be gone first.`,
      untilMs: null,
      by: first?.messageId,
    });
    expect(whyOf(world, "orders.fifo", "b-3").reason).toBe("awaitsPull");
  });

  it("groupBlocked: when those before it leave with the next turn", async () => {
    const world = orders({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxConcurrency: 1 }, { fifo: {} });
    world.handler = never;
    const seen: Record<string, string> = {};
    await world.send("orders", ["m1", "m2"], { groups: ["g", "g"], delaySeconds: 5 });
    world.nowMs += 5_000;
    for (const body of ["m1", "m2"]) seen[body] = whyOf(world, "orders", body).reason;
    expect(seen).toEqual({ m1: "dueNow", m2: "groupBlocked" });
    expect(queueWhy(world, "orders")).toMatchObject({ reason: "dueNow" });
    await world.core("orders").wake();
    expect(queueWhy(world, "orders")).toMatchObject({ reason: "concurrency" });
  });

  it("groupHeldBack: while its group has too many messages in flight", async () => {
    const world = new SqsWorld({ orders: { consumer: consumer({ ...one, maxBatchSize: 10 }) } });
    world.handler = never;
    await world.enqueue("orders", ...Array.from({ length: 40 }, (_, i) => `noisy-${i}`));
    for (let i = 0; i < 3; i++) await world.receive("orders", { visibilityTimeoutMs: 60_000 });
    await world.enqueue("orders", "noisy-late");
    expect(whyOf(world, "orders", "noisy-late")).toMatchObject({ reason: "groupHeldBack" });
  });

  it("paused, whatever its consumer", async () => {
    const world = orders(one, { deliveryPaused: true });
    await world.send("orders", ["m"]);
    const paused = {
      reason: "paused",
      text: "Delivery is paused until it is resumed.",
      untilMs: null,
      by: null,
    };
    expect(whyOf(world, "orders", "m")).toEqual(paused);
    expect(queueWhy(world, "orders")).toMatchObject({ ...paused, also: [] });
  });

  it("noConsumer: with the Worker that is expected, or without any", async () => {
    const world = new World({ orders: {} });
    await world.send("orders", ["m"]);
    expect(whyOf(world, "orders", "m")).toEqual({
      reason: "noConsumer",
      text: 'Queue "orders" has no consumer, and no client is known to ask for its messages.',
      untilMs: null,
      by: null,
    });
    const unbound = orders(one);
    unbound.hasConsumer = false;
    await unbound.send("orders", ["m"]);
    expect(whyOf(unbound, "orders", "m")).toMatchObject({
      reason: "noConsumer",
      text: 'Its consumer "consumer" is not one that this broker was started with.',
      by: "consumer",
    });
  });

  it("noConsumer: with the Worker of the configuration, which an API has removed", async () => {
    const world = new World({ orders: {} });
    await world.send("orders", ["m"]);
    const { reason, text } = new Messages(world.core("orders"), "mailer").why();
    expect([reason, text]).toEqual([
      "noConsumer",
      'Queue "orders" has no consumer, and no client is known to ask for its messages. The configuration names Worker ' +
        '"mailer", which an API has removed since: "wrangler queues consumer worker add" or a change of the ' +
        "configuration brings it back.",
    ]);
  });

  it("consumerAway: until it is asked again, and while it proves itself", async () => {
    const world = orders(one);
    world.running = false;
    await world.send("orders", ["m"]);
    await world.quiet();
    const untilMs = WORLD_START_MS + BACKOFF_FIRST_MS;
    expect(whyOf(world, "orders", "m")).toMatchObject({ reason: "consumerAway", untilMs, by: "consumer" });
    expect(queueWhy(world, "orders")).toMatchObject({ reason: "consumerAway", untilMs });
    const posted = new World({ orders: { consumer: endpoint() } });
    posted.running = false;
    posted.answer = () => ({ kind: "unreachable", reason: "gone" });
    await posted.send("orders", ["m1", "m2"]);
    await posted.quiet();
    expect(whyOf(posted, "orders", "m1")).toMatchObject({ reason: "consumerAway" });
    posted.running = true;
    posted.answer = never;
    await posted.pass(BACKOFF_FIRST_MS);
    const reasons = [whyOf(posted, "orders", "m1"), whyOf(posted, "orders", "m2")];
    expect(reasons).toMatchObject([
      { reason: "leased" },
      { reason: "consumerAway", text: expect.stringContaining("is back"), untilMs: null },
    ]);
  });

  it("throttled: until the next slot", async () => {
    const world = orders({ ...one, maxConcurrency: null }, { maxReceivesPerSecond: 2 });
    world.handler = never;
    await world.send("orders", ["m1", "m2"]);
    await world.quiet();
    expect(whyOf(world, "orders", "m1")).toMatchObject({ reason: "leased" });
    const untilMs = WORLD_START_MS + 500;
    expect(whyOf(world, "orders", "m2")).toMatchObject({ reason: "throttled", untilMs });
    expect(queueWhy(world, "orders")).toMatchObject({
      reason: "throttled",
      text: `The queue delivers 2 messages a second at most: the next one leaves at ${at(500)}.`,
      untilMs,
    });
    const received = new SqsWorld({ orders: { maxReceivesPerSecond: 2 } });
    await received.enqueue("orders", "m1", "m2");
    await received.receive("orders", { max: 1 });
    expect(whyOf(received, "orders", "m2")).toMatchObject({ reason: "throttled", untilMs });
  });

  it("batching: until the batch is full or its time is over", async () => {
    const world = orders({ maxBatchSize: 3, maxBatchTimeoutSeconds: 5 });
    await world.send("orders", ["m"]);
    const untilMs = WORLD_START_MS + 5_000;
    const text = `A batch is not full: it leaves with 3 messages, or 5 s after its first one came, at ${at(5_000)}.`;
    expect(whyOf(world, "orders", "m")).toEqual({ reason: "batching", text, untilMs, by: "consumer" });
    expect(queueWhy(world, "orders")).toMatchObject({ reason: "batching", untilMs });
  });

  it("concurrency: when every delivery runs that may, by the setting, the need or failures", async () => {
    const world = orders(one);
    world.handler = never;
    await world.send("orders", ["m1", "m2"]);
    await world.quiet();
    expect(whyOf(world, "orders", "m2")).toEqual({
      reason: "concurrency",
      text: "One delivery runs, as max_concurrency allows: it leaves when one has ended.",
      untilMs: null,
      by: "consumer",
    });
    const scaling = orders({ ...one, maxConcurrency: null });
    scaling.handler = never;
    await scaling.send("orders", ["m1", "m2"]);
    await scaling.quiet();
    expect(whyOf(scaling, "orders", "m2").text).toContain("as many as the queue has needed so far");
    scaling.core("orders").queue.push.failures.push(true, false);
    expect(whyOf(scaling, "orders", "m2").text).toContain("while 1 of the last 2 failed");
    scaling.core("orders").queue.push.inFlightBytes = 16_000_000;
    expect(whyOf(scaling, "orders", "m2").text).toContain("bytes");
  });

  it("draining, and concurrency, of an application that a worker daemon posts to", async () => {
    const daemon = {
      visibilityTimeoutSeconds: 300,
      errorVisibilityTimeoutSeconds: null,
      retentionSeconds: 345_600,
    };
    const settings = { url: "https://app.example/work", format: "sqsd", maxConcurrency: 1, daemon } as const;
    const world = new SqsWorld({ jobs: { consumer: endpoint(settings) } });
    world.answer = never;
    await world.enqueue("jobs", "m1", "m2");
    await world.quiet();
    expect(whyOf(world, "jobs", "m1")).toMatchObject({
      reason: "leased",
      text: expect.stringContaining("works on it"),
    });
    expect(whyOf(world, "jobs", "m2")).toMatchObject({
      reason: "concurrency",
      text: expect.stringContaining("connection"),
    });
    await world.core("jobs").drain();
    expect(whyOf(world, "jobs", "m2")).toMatchObject({
      reason: "draining",
      untilMs: WORLD_START_MS + DRAIN_MS,
    });
  });

  it("awaitsPull: for clients that ask", async () => {
    const world = new World({ orders: { consumer: pullConsumer() } });
    await world.send("orders", ["m"]);
    const text = "It is ready: the next client that asks gets it, or one before it.";
    const ofQueue = "Messages are ready: the next client that asks gets some.";
    expect(whyOf(world, "orders", "m")).toEqual({ reason: "awaitsPull", text, untilMs: null, by: null });
    expect(queueWhy(world, "orders")).toMatchObject({
      reason: "awaitsPull",
      text: `${ofQueue} None is known to have asked yet.`,
    });
    const received = new SqsWorld({ orders: {} });
    received.nowMs += 7_000;
    await received.receive("orders");
    await received.enqueue("orders", "m");
    expect(whyOf(received, "orders", "m")).toMatchObject({ reason: "awaitsPull", text });
    for (let i = 0; i < 2; i++) {
      received.nowMs += 60_000;
      expect(queueWhy(received, "orders").text).toBe(`${ofQueue} None has asked since ${at(7_000)}.`);
    }
  });

  it("awaitsPull: since the last pull of a queue that is pulled from", async () => {
    const world = new World({ orders: { consumer: pullConsumer() } });
    world.nowMs += 7_000;
    await world.core("orders").pull({});
    await world.send("orders", ["m"]);
    expect(queueWhy(world, "orders").text).toContain(` None has asked since ${at(7_000)}.`);
  });

  it.each([
    [1, "1 time"],
    [2, "2 times"],
  ])("exhausted: with where the next receive moves it, after %i", async (count, times) => {
    const redrive = { deadLetterQueue: "dead", maxReceiveCount: count };
    const world = new SqsWorld({ orders: { receive: { redrive } }, dead: {} });
    await world.enqueue("orders", "m");
    for (let i = 0; i < count; i++) await world.receive("orders", { visibilityTimeoutMs: 0 });
    expect(whyOf(world, "orders", "m")).toEqual({
      reason: "exhausted",
      text: `It was received ${times}, as often as it may be: the next receive moves it to "dead".`,
      untilMs: null,
      by: "dead",
    });
  });

  it("dueNow, until the turn that takes it", async () => {
    const world = orders(one);
    world.handler = never;
    await world.send("orders", ["m"], { delaySeconds: 5 });
    world.nowMs += 5_000;
    expect(whyOf(world, "orders", "m")).toMatchObject({ reason: "dueNow", by: "consumer" });
    expect(queueWhy(world, "orders")).toMatchObject({ reason: "dueNow" });
    await world.core("orders").wake();
    expect(whyOf(world, "orders", "m")).toMatchObject({ reason: "leased" });
  });
});

it("why a queue delivers nothing empty, with what else is wrong", async () => {
  const world = orders(one);
  expect(queueWhy(world, "orders")).toEqual({
    reason: "empty",
    text: "There is no message in the queue.",
    untilMs: null,
    by: null,
    also: [],
    messages: { ready: 0, delayed: 0, leased: 0 },
  });
  await world
    .core("orders")
    .submit(() => world.core("orders").damage.note("structure", null, "a page is gone"));
  expect(queueWhy(world, "orders").also).toEqual([
    { reason: "damaged", text: "Data is damaged: a page is gone.", untilMs: null, by: null },
  ]);
});

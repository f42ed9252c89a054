import { metricsText } from "@sluice/protocol";
import { afterEach, expect, it } from "vitest";
import { type BrokerHarness, startBroker } from "./harness.ts";
import { bodiesOf, consumer, packTexts } from "./messages.ts";

let broker: BrokerHarness | undefined;

afterEach(async () => {
  await broker?.stop();
  broker = undefined;
});

function total(harness: BrokerHarness): number {
  return harness.seen.reduce((sum, batch) => sum + batch.messages.length, 0);
}

// conformance: batch-trigger
it("delivery to a Worker delivers a full batch at once and the rest after max_batch_timeout", async () => {
  broker = await startBroker({
    queues: { orders: { consumer: consumer({ maxBatchSize: 2, maxBatchTimeoutSeconds: 60 }) } },
  });
  const queue = await broker.queue("orders");
  expect(await broker.send("orders", ["a", "b", "c"])).toMatchObject({ ok: true });
  await broker.until((seen) => seen.length === 1);
  expect(bodiesOf(broker.seen)).toEqual([["a", "b"]]);
  await queue.advanceClock("orders", 60_000);
  await broker.until((seen) => seen.length === 2);
  expect(bodiesOf(broker.seen)).toEqual([["a", "b"], ["c"]]);
});

it("delivery to a Worker answers a send with the backlog including the new messages", async () => {
  broker = await startBroker({ queues: { orders: {} } });
  await broker.send("orders", ["one"]);
  const reply = await broker.send("orders", ["two", "three"]);
  expect(reply).toMatchObject({ ok: true, metrics: { backlogCount: 3, backlogBytes: 11 } });
  const queue = await broker.queue("orders");
  const posted = await queue.post("orders", [{ packed: packTexts(["four"]) }]);
  expect(posted).toBe(metricsText(await queue.metrics("orders")));
  expect(await queue.metrics("orders")).toMatchObject({ backlogCount: 4, backlogBytes: 15 });
  expect(await queue.post("orders", [{ packed: packTexts([]) }])).toMatchObject({ ok: false, code: 10206 });
});

// conformance: send-delays
it("delivery to a Worker keeps messages back for their own delay, their batch's or the queue's, in this order", async () => {
  broker = await startBroker({
    queues: {
      orders: {
        deliveryDelaySeconds: 30,
        consumer: consumer({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0 }),
      },
    },
  });
  const queue = await broker.queue("orders");
  await broker.send("orders", ["own", "batch"], { delaySeconds: 20, ownDelays: [10, undefined] });
  await broker.send("orders", ["queue"]);
  await broker.send("orders", ["now"], { ownDelays: [0] });
  await broker.until((seen) => seen.length === 1);
  for (const expected of [2, 3, 4]) {
    await queue.advanceClock("orders", 10_000);
    await broker.until((seen) => seen.length === expected);
  }
  expect(bodiesOf(broker.seen)).toEqual([["now"], ["own"], ["batch"], ["queue"]]);
});

// conformance: retry-delays, attempts-count-deliveries
it("delivery to a Worker retries what the handler asked for, with its delay, and counts the attempts", async () => {
  broker = await startBroker({
    queues: { orders: { consumer: consumer({ maxBatchSize: 2, maxBatchTimeoutSeconds: 0 }) } },
    handler: (batch) =>
      batch.messages[0]?.attempts === 1
        ? { retryMessages: [{ msgId: batch.messages[0].id, delaySeconds: 60 }] }
        : {},
  });
  const queue = await broker.queue("orders");
  await broker.send("orders", ["a", "b"]);
  await broker.until((seen) => seen.length === 1);
  await expect.poll(async () => (await queue.describe("orders")).delayed).toBe(1);
  await queue.advanceClock("orders", 60_000);
  await broker.until((seen) => seen.length === 2);
  expect(broker.seen[1]?.messages).toMatchObject([{ body: "a", attempts: 2 }]);
  expect(broker.seen[1]?.messages[0]?.timestampMs).toBe(broker.seen[0]?.messages[0]?.timestampMs);
  await expect.poll(async () => (await queue.describe("orders")).leased).toBe(0);
  expect(await queue.metrics("orders")).toEqual({
    backlogCount: 0,
    backlogBytes: 0,
    oldestMessageTimestampMs: 0,
  });
});

// conformance: dead-letter
it("delivery to a Worker moves a message to the dead-letter queue after max_retries + 1 deliveries; id and timestamp stay", async () => {
  broker = await startBroker({
    queues: {
      orders: {
        consumer: consumer({
          maxBatchSize: 1,
          maxBatchTimeoutSeconds: 0,
          maxRetries: 2,
          deadLetterQueue: "graveyard",
        }),
      },
      graveyard: { consumer: consumer({ maxBatchTimeoutSeconds: 0 }) },
    },
    handler: (batch) => (batch.queue === "orders" ? { outcome: "exception", error: "Error: boom" } : {}),
  });
  await broker.send("orders", ["doomed"], { ownDelays: [0] });
  await broker.until((seen) => seen.length === 4);
  const [first, , third, grave] = broker.seen;
  expect(broker.seen.map((batch) => batch.queue)).toEqual(["orders", "orders", "orders", "graveyard"]);
  expect(third?.messages[0]?.attempts).toBe(3);
  expect(grave?.messages).toEqual([{ ...first?.messages[0], attempts: 1 }]);
  expect(broker.lines).toContain(
    `Moving message "${first?.messages[0]?.id}" on queue "orders" to dead letter queue "graveyard" ` +
      "after 3 failed attempt(s): Error: boom",
  );
});

// conformance: absent-consumer, order-by-publish-time
it("delivery to a Worker keeps the backlog while no consumer is running and delivers it in order when it is back", async () => {
  let running = false;
  broker = await startBroker({
    queues: {
      orders: { consumer: consumer({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxConcurrency: 1 }) },
    },
    running: () => running,
  });
  const queue = await broker.queue("orders");
  for (const body of ["a", "b", "c"]) await broker.send("orders", [body]);
  await expect.poll(async () => (await queue.describe("orders")).ready).toBe(3);
  running = true;
  await queue.advanceClock("orders", 60_000);
  await broker.until((seen) => seen.length === 3);
  expect(bodiesOf(broker.seen)).toEqual([["a"], ["b"], ["c"]]);
  expect(broker.seen.map((batch) => batch.messages[0]?.attempts)).toEqual([1, 1, 1]);
});

it("delivery to a Worker works with 20,000 delayed messages at once", async () => {
  broker = await startBroker({
    queues: { orders: { consumer: consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 0 }) } },
  });
  const queue = await broker.queue("orders");
  for (let batch = 0; batch < 200; batch++) {
    const ownDelays = Array.from({ length: 100 }, (_, i) => 60 + ((batch * 100 + i) % 3600));
    await broker.send("orders", Array(100).fill("x"), { ownDelays });
  }
  expect(await queue.describe("orders")).toMatchObject({ ready: 0, delayed: 20_000, leased: 0 });
  await queue.advanceClock("orders", 2 * 3_600_000);
  const harness = broker;
  await broker.until(() => total(harness) === 20_000);
  await expect.poll(async () => (await queue.describe("orders")).leased).toBe(0);
});

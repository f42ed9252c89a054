import type { PullReply } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { brokersOfTest } from "./brokers-of-test.ts";
import type { BrokerHarness } from "./harness.ts";
import { consumer, pullConsumer } from "./messages.ts";

const brokers = brokersOfTest();

/** Kills the process and starts another one on the same files. */
async function restart(options: Parameters<typeof brokers.start>[0]): Promise<BrokerHarness> {
  await brokers.kill();
  return brokers.start(options);
}

const never = () => new Promise<never>(() => {});

describe("kill -9 between send and delivery", () => {
  // conformance: at-least-once
  it("delivers every acknowledged message afterwards", async () => {
    const queues = { orders: { consumer: consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 60 }) } };
    const broker = await brokers.start({ queues });
    const sent: string[] = [];
    for (let i = 0; i < 50; i++) {
      const reply = await broker.send("orders", [`message ${i}`]);
      expect(reply.ok).toBe(true);
      sent.push(`message ${i}`);
    }
    expect(broker.seen).toEqual([]);
    const restarted = await restart({ queues });
    const queue = await restarted.queue("orders");
    await queue.advanceClock("orders", 60_000);
    await restarted.until((seen) => seen.length === 1);
    expect(restarted.seen[0]?.messages.map((message) => message.body)).toEqual(sent);
  });

  // conformance: durable-delays
  it("keeps delays", async () => {
    const queues = { orders: { consumer: consumer({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0 }) } };
    const broker = await brokers.start({ queues });
    await broker.send("orders", ["later", "sooner"], { ownDelays: [7200, 3600] });
    const restarted = await restart({ queues });
    const queue = await restarted.queue("orders");
    expect(await queue.describe("orders")).toMatchObject({ ready: 0, delayed: 2, leased: 0 });
    await queue.advanceClock("orders", 3_600_000);
    await restarted.until((seen) => seen.length === 1);
    await queue.advanceClock("orders", 3_600_000);
    await restarted.until((seen) => seen.length === 2);
    expect(restarted.seen.map((batch) => batch.messages[0]?.body)).toEqual(["sooner", "later"]);
  });

  // conformance: durable-delays
  it("counts the attempts of deliveries that the crash cut off, up to the dead-letter queue", async () => {
    const queues = {
      orders: {
        consumer: consumer({
          maxBatchSize: 1,
          maxBatchTimeoutSeconds: 0,
          maxRetries: 1,
          deadLetterQueue: "graveyard",
        }),
      },
      graveyard: { consumer: consumer({ maxBatchTimeoutSeconds: 0 }) },
    };
    const broker = await brokers.start({ queues, handler: never });
    await broker.send("orders", ["poison"]);
    await broker.until((seen) => seen.length === 1);
    expect(broker.seen[0]?.messages[0]?.attempts).toBe(1);

    const second = await restart({ queues, handler: never });
    await second.until((seen) => seen.length === 1);
    expect(second.seen[0]).toMatchObject({ queue: "orders", messages: [{ body: "poison", attempts: 2 }] });

    const third = await restart({ queues });
    await third.until((seen) => seen.length === 1);
    expect(third.seen[0]).toMatchObject({ queue: "graveyard", messages: [{ body: "poison", attempts: 1 }] });
  });

  it("wakes a queue by its alarm, without a call from outside", async () => {
    // Longer than a busy machine takes to kill it after the send.
    const queues = { orders: { consumer: consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 5 }) } };
    const broker = await brokers.start({ queues });
    await broker.send("orders", ["one"]);
    const restarted = await restart({ queues });
    await restarted.until((seen) => seen.length === 1);
    expect(restarted.seen[0]?.messages[0]?.body).toBe("one");
  });

  it("delivers again what an alarm was delivering where rows are billed, though no other alarm was set", async () => {
    const queues = { orders: { consumer: consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 1 }) } };
    const broker = await brokers.start({ queues, handler: never, sluiceEnv: null });
    await broker.send("orders", ["one"]);
    await broker.until((seen) => seen.length === 1);
    const restarted = await restart({ queues, sluiceEnv: null });
    await restarted.until((seen) => seen.length === 1);
    expect(restarted.seen[0]?.messages[0]).toMatchObject({ body: "one", attempts: 2 });
  });
});

it("kill -9 after a pull leaves what was pulled with its client: the lease goes on, and its lease ids settle it", async () => {
  const queues = { orders: { consumer: pullConsumer() } };
  const broker = await brokers.start({ queues });
  await broker.send("orders", ["acked", "retried", "expires", "waits"]);
  const before = await broker.queue("orders");
  const pulled = await before.pull("orders", { max: 3, visibilityTimeoutMs: 600_000 });
  if (!pulled.ok) throw new Error(pulled.reason);
  const [acked = "", givenBack = ""] = pulled.batch.leaseIds;

  const queue = await (await restart({ queues })).queue("orders");
  expect(await queue.describe("orders")).toMatchObject({ ready: 1, leased: 3 });
  const retries = [{ leaseId: givenBack }];
  expect(await queue.settleLeases("orders", { acks: [acked, "made-up"], retries })).toEqual({
    ackCount: 1,
    retryCount: 1,
    warnings: [["made-up", "This is not a lease id of this queue."]],
  });
  expect(await attemptsOf(queue.pull("orders", { max: 100, visibilityTimeoutMs: 3_600_000 }))).toEqual([
    1, 2,
  ]);
  await queue.advanceClock("orders", 600_000);
  expect(await attemptsOf(queue.pull("orders", { max: 100 }))).toEqual([2]);
});

async function attemptsOf(reply: Promise<PullReply>): Promise<number[]> {
  const pulled = await reply;
  if (!pulled.ok) throw new Error(pulled.reason);
  return [...pulled.batch.attempts].sort();
}

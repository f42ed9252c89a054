import type { PullReply } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import type { BrokerHarness, Handler } from "./harness.ts";
import { Lives, livesOfFile, seenOf } from "./lives.ts";
import { consumer, pullConsumer } from "./messages.ts";

const atOnce = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };
const queues = {
  full: { consumer: consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 60 }) },
  delayed: { consumer: consumer(atOnce) },
  poisoned: { consumer: consumer({ ...atOnce, maxRetries: 1, deadLetterQueue: "graveyard" }) },
  graveyard: { consumer: consumer({ maxBatchTimeoutSeconds: 0 }) },
  // Longer than a busy machine takes to kill it after the send.
  asleep: { consumer: consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 5 }) },
  pulled: { consumer: pullConsumer() },
};
const never = () => new Promise<never>(() => {});
const handler: Handler = ({ queue }) => (queue === "poisoned" ? never() : {});

const billed = {
  queues: { orders: { consumer: consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 1 }) } },
  sluiceEnv: null,
};
const options = { queues, handler };
const lives = new Lives(options, options, options);
const billedLives = new Lives({ ...billed, handler: never }, billed);
livesOfFile([lives, billedLives], true);

const bodiesOf = (broker: BrokerHarness, queue: string) =>
  seenOf(broker.seen, queue).flatMap(({ messages }) => messages.map(({ body }) => body));
const until = (broker: BrokerHarness, queue: string, batches: number) =>
  broker.until((seen) => seenOf(seen, queue).length >= batches);

describe("kill -9 between send and delivery", () => {
  const sent = Array.from({ length: 50 }, (_, i) => `message ${i}`);

  it(
    // conformance: at-least-once
    "delivers every acknowledged message afterwards",
    lives.of(
      async (broker) => {
        for (const body of sent) expect((await broker.send("full", [body])).ok).toBe(true);
        expect(bodiesOf(broker, "full")).toEqual([]);
      },
      async (restarted) => {
        await (await restarted.queue("full")).advanceClock("full", 60_000);
        await until(restarted, "full", 1);
        expect(bodiesOf(restarted, "full")).toEqual(sent);
      },
    ),
  );

  it(
    // conformance: durable-delays
    "keeps delays",
    lives.of(
      async (broker) => {
        await broker.send("delayed", ["later", "sooner"], { ownDelays: [7200, 3600] });
      },
      async (restarted) => {
        const queue = await restarted.queue("delayed");
        expect(await queue.describe("delayed")).toMatchObject({ ready: 0, delayed: 2, leased: 0 });
        await queue.advanceClock("delayed", 3_600_000);
        await until(restarted, "delayed", 1);
        await queue.advanceClock("delayed", 3_600_000);
        await until(restarted, "delayed", 2);
        expect(bodiesOf(restarted, "delayed")).toEqual(["sooner", "later"]);
      },
    ),
  );

  it(
    // conformance: durable-delays
    "counts the attempts of deliveries that the crash cut off, up to the dead-letter queue",
    lives.of(
      async (broker) => {
        await broker.send("poisoned", ["poison"]);
        await until(broker, "poisoned", 1);
        expect(seenOf(broker.seen, "poisoned")[0]?.messages[0]?.attempts).toBe(1);
      },
      async (second) => {
        await until(second, "poisoned", 1);
        const [batch] = seenOf(second.seen, "poisoned");
        expect(batch).toMatchObject({ messages: [{ body: "poison", attempts: 2 }] });
      },
      async (third) => {
        await until(third, "graveyard", 1);
        expect(third.seen[0]).toMatchObject({
          queue: "graveyard",
          messages: [{ body: "poison", attempts: 1 }],
        });
      },
    ),
  );

  it(
    "wakes a queue by its alarm, without a call from outside",
    lives.last(
      async (broker) => {
        await broker.send("asleep", ["one"]);
      },
      async (restarted) => {
        await until(restarted, "asleep", 1);
        expect(bodiesOf(restarted, "asleep")).toEqual(["one"]);
      },
    ),
  );

  it(
    "delivers again what an alarm was delivering where rows are billed, though no other alarm was set",
    billedLives.of(
      async (broker) => {
        await broker.send("orders", ["one"]);
        await until(broker, "orders", 1);
      },
      async (restarted) => {
        await until(restarted, "orders", 1);
        expect(restarted.seen[0]?.messages[0]).toMatchObject({ body: "one", attempts: 2 });
      },
    ),
  );
});

let leaseIds: readonly string[] = [];

it(
  "kill -9 after a pull leaves what was pulled with its client: the lease goes on, and its lease ids settle it",
  lives.of(
    async (broker) => {
      await broker.send("pulled", ["acked", "retried", "expires", "waits"]);
      const queue = await broker.queue("pulled");
      const pulled = await queue.pull("pulled", { max: 3, visibilityTimeoutMs: 600_000 });
      if (!pulled.ok) throw new Error(pulled.reason);
      ({ leaseIds } = pulled.batch);
    },
    async (restarted) => {
      const [acked = "", givenBack = ""] = leaseIds;
      const queue = await restarted.queue("pulled");
      expect(await queue.describe("pulled")).toMatchObject({ ready: 1, leased: 3 });
      const retries = [{ leaseId: givenBack }];
      expect(await queue.settleLeases("pulled", { acks: [acked, "made-up"], retries })).toEqual({
        ackCount: 1,
        retryCount: 1,
        warnings: [["made-up", "This is not a lease id of this queue."]],
      });
      const all = { max: 100, visibilityTimeoutMs: 3_600_000 };
      expect(await attemptsOf(queue.pull("pulled", all))).toEqual([1, 2]);
      await queue.advanceClock("pulled", 600_000);
      expect(await attemptsOf(queue.pull("pulled", { max: 100 }))).toEqual([2]);
    },
  ),
);

async function attemptsOf(reply: Promise<PullReply>): Promise<number[]> {
  const pulled = await reply;
  if (!pulled.ok) throw new Error(pulled.reason);
  return [...pulled.batch.attempts].sort();
}

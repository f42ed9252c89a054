import type { QueueUsage } from "@sluice/protocol";
import { expect, it } from "vitest";
import type { BrokerHarness } from "./harness.ts";
import { Lives, livesOfFile, seenOf } from "./lives.ts";
import { consumer } from "./messages.ts";

const pushed = { consumer: consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 0 }) };
// Reports are due after 5 s.
const options = { queues: { orders: pushed, idle: pushed, other: pushed }, timerSpeed: 20 };
const lives = new Lives(options, options);
livesOfFile([lives], true);

async function usage(of: BrokerHarness, queue: string): Promise<QueueUsage> {
  const described = await (await of.queue(queue)).describe(queue);
  if (described.usage === undefined) throw new Error("nothing is counted");
  return described.usage;
}

/** Finds what the directory knows of a queue that has come to rest. */
async function atRest(of: BrokerHarness, queue: string) {
  const all = await (await of.directory()).atRest();
  return all.find(({ description }) => description.queue === queue)?.description;
}

let before: QueueUsage;

it(
  "counts what a queue uses this month, and goes on with it after kill -9",
  lives.of(
    async (broker) => {
      await broker.send("orders", Array<string>(10).fill("x".repeat(100)));
      await broker.send("orders", ["y".repeat(70_000)]);
      await broker.until((seen) => seenOf(seen, "orders").flatMap(({ messages }) => messages).length === 11);
      await expect.poll(() => atRest(broker, "orders")).toBeDefined();

      before = await usage(broker, "orders");
      expect(before).toMatchObject({ messages: 11, messageChunks: 12, deliveries: 11 });
      expect(before.month).toBe(new Date(before.sinceMs).toISOString().slice(0, 7));
      expect(before.messageBytes).toBeGreaterThan(71_000);
      // Two commits at the very least, the report here and there, and the heartbeat of the deliveries.
      expect(before.rowsWritten).toBeGreaterThanOrEqual(5);
      // Two sends, the alarm, the directory asked at the start and told by the report.
      expect(before.requests).toBeGreaterThanOrEqual(5);
      expect(before.requests).toBeLessThanOrEqual(before.rowsWritten + 20);
      expect(before.awakeMs).toBeGreaterThan(0);
    },
    async (restarted) => {
      const after = await usage(restarted, "orders");
      expect(after).toMatchObject({
        messages: 11,
        messageChunks: 12,
        deliveries: 11,
        sinceMs: before.sinceMs,
      });
      expect(after.rowsWritten).toBeGreaterThanOrEqual(5);
      // What was asked since the report is not in it: it was never stored.
      expect(after.requests).toBeGreaterThanOrEqual(4);
    },
  ),
);

it(
  "writes nothing for an idle queue",
  lives.of(async (broker) => {
    await broker.send("idle", ["one"]);
    await expect.poll(() => atRest(broker, "idle")).toBeDefined();
    const untilAnotherReports = async () => {
      const { messages } = await usage(broker, "other");
      await broker.send("other", ["one"]);
      const reported = async () => (await atRest(broker, "other"))?.usage?.messages;
      await expect.poll(reported).toBe(messages + 1);
    };
    // A report that was overtaken is followed by another one.
    await untilAnotherReports();
    const { rowsWritten, requests } = await usage(broker, "idle");
    await untilAnotherReports();
    expect((await atRest(broker, "idle"))?.usage).toMatchObject({ messages: 1, deliveries: 1 });
    expect(await usage(broker, "idle")).toMatchObject({ rowsWritten, requests: requests + 1 });
  }),
);

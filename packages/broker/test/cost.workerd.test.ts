import { afterEach, describe, expect, it } from "vitest";
import { type BrokerHarness, startBroker } from "./harness.ts";
import { consumer } from "./messages.ts";

/*
 * Cloudflare bills rows written, so rows per message is a design number. A row written costs 1.00 USD per million, a
 * message of Cloudflare Queues 1.20 USD per million.
 */

let broker: BrokerHarness | undefined;

afterEach(async () => {
  await broker?.stop();
  broker = undefined;
});

/** Rows written per message from before `send` until everything is handled. */
async function rowsPerMessage(
  settings: Parameters<typeof consumer>[0],
  messages: number,
  send: (harness: BrokerHarness) => Promise<void>,
): Promise<number> {
  const harness = await startBroker({ queues: { orders: { consumer: consumer(settings) } } });
  broker = harness;
  const queue = await harness.queue("orders");
  const before = (await queue.describe("orders")).rowsWritten;
  await send(harness);
  const seen = () => harness.seen.reduce((sum, batch) => sum + batch.messages.length, 0);
  await harness.until(() => seen() === messages);
  await expect.poll(async () => (await queue.describe("orders")).leased, { timeout: 10_000 }).toBe(0);
  const rows = ((await queue.describe("orders")).rowsWritten - before) / messages;
  console.log(`${rows.toFixed(4)} rows written per message`);
  return rows;
}

describe("rows written per message", () => {
  it("are at most 0.06 for sendBatch of 100 handled in batches of 100", async () => {
    const settings = { maxBatchSize: 100, maxBatchTimeoutSeconds: 5 };
    const rows = await rowsPerMessage(settings, 5_000, (harness) =>
      harness.swarm("orders", Array<string>(100).fill("x".repeat(100)), 1, 50),
    );
    expect(rows).toBeLessThanOrEqual(0.06);
  });

  it("are at most 1.2 for 50 senders of single messages at once", async () => {
    const settings = { maxBatchSize: 10, maxBatchTimeoutSeconds: 1 };
    const rows = await rowsPerMessage(settings, 5_000, (harness) =>
      harness.swarm("orders", ["x".repeat(100)], 50, 100),
    );
    expect(rows).toBeLessThanOrEqual(1.2);
  });
});

import { afterEach, expect, it } from "vitest";
import { type BrokerHarness, startBroker } from "./harness.ts";
import { consumer, pullConsumer } from "./messages.ts";

/*
 * Cloudflare bills rows written, so rows per message is a design number. A row written costs 1.00 USD per million, a
 * message of Cloudflare Queues 1.20 USD per million.
 */

/** As Cloudflare runs it. In development it keeps a history, whose rows come with time and not with messages. */
const DEPLOYED = { sluiceEnv: null };

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
  const harness = await startBroker({ ...DEPLOYED, queues: { orders: { consumer: consumer(settings) } } });
  broker = harness;
  const queue = await harness.queue("orders");
  const before = (await queue.describe("orders")).rowsWritten;
  await send(harness);
  const seen = () => harness.seen.reduce((sum, batch) => sum + batch.messages.length, 0);
  await harness.until(() => seen() === messages);
  await expect.poll(async () => (await queue.describe("orders")).leased).toBe(0);
  const rows = ((await queue.describe("orders")).rowsWritten - before) / messages;
  console.log(`${rows.toFixed(4)} rows written per message`);
  return rows;
}

/** The same for messages that are pulled `max` at a time, and acknowledged in one call for each pull. */
async function rowsPerPulledMessage(
  messages: number,
  max: number,
  send: (harness: BrokerHarness) => Promise<void>,
): Promise<number> {
  const harness = await startBroker({ ...DEPLOYED, queues: { orders: { consumer: pullConsumer() } } });
  broker = harness;
  const queue = await harness.queue("orders");
  const before = (await queue.describe("orders")).rowsWritten;
  await send(harness);
  let acked = 0;
  while (acked < messages) {
    const reply = await queue.pull("orders", { max });
    if (!reply.ok || reply.batch.leaseIds.length === 0) throw new Error(`nothing is left after ${acked}`);
    const { ackCount } = await queue.settleLeases("orders", { acks: reply.batch.leaseIds, retries: [] });
    acked += ackCount;
  }
  const rows = ((await queue.describe("orders")).rowsWritten - before) / messages;
  console.log(`${rows.toFixed(4)} rows written per message that is pulled ${max} at a time`);
  return rows;
}

it("rows written per message are at most 0.06 for sendBatch of 100 pulled and acknowledged 100 at a time", async () => {
  const rows = await rowsPerPulledMessage(5_000, 100, (harness) =>
    harness.swarm("orders", Array<string>(100).fill("x".repeat(100)), 1, 50),
  );
  expect(rows).toBeLessThanOrEqual(0.06);
});

it("rows written per message are at most 0.06 for sendBatch of 100 handled in batches of 100", async () => {
  const settings = { maxBatchSize: 100, maxBatchTimeoutSeconds: 5 };
  const rows = await rowsPerMessage(settings, 5_000, (harness) =>
    harness.swarm("orders", Array<string>(100).fill("x".repeat(100)), 1, 50),
  );
  expect(rows).toBeLessThanOrEqual(0.06);
});

it("a message that comes alone takes four rows, and nothing keeps the object awake", async () => {
  const queues = { orders: { consumer: consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 1 }) } };
  const harness = await startBroker({ ...DEPLOYED, queues });
  broker = harness;
  const queue = await harness.queue("orders");
  const directory = await harness.directory();
  const usage = async () => (await queue.describe("orders")).usage;
  const handle = async (messages: number) => {
    await harness.send("orders", ["x"]);
    await harness.until((seen) => seen.length === messages);
    await expect.poll(async () => (await queue.metrics("orders")).backlogCount).toBe(0);
  };
  await handle(1);
  await usage();
  await expect.poll(async () => (await directory.atRest()).length).toBe(1);
  // The directory hears that the queue is idle no more, since somebody has asked.
  await handle(2);
  const before = await usage();
  await expect.poll(async () => (await directory.atRest()).length).toBe(1);
  await handle(3);
  const after = await usage();
  if (before === undefined || after === undefined) throw new Error("nothing is counted");
  // Two reports, because somebody has asked: two rows each.
  expect(after.rowsWritten - before.rowsWritten - 4).toBe(4);
  expect(after.awakeMs - before.awakeMs).toBeLessThan(1_000);
});

it("rows written per message are at most 1.2 for 50 senders of single messages at once", async () => {
  const settings = { maxBatchSize: 10, maxBatchTimeoutSeconds: 1 };
  const rows = await rowsPerMessage(settings, 5_000, (harness) =>
    harness.swarm("orders", ["x".repeat(100)], 50, 100),
  );
  expect(rows).toBeLessThanOrEqual(1.2);
});

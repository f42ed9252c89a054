import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { QueueUsage } from "@sluice/protocol";
import { afterEach, expect, it } from "vitest";
import { type BrokerHarness, startBroker } from "./harness.ts";
import { consumer } from "./messages.ts";

let broker: BrokerHarness | undefined;
let persistDir: string | undefined;

afterEach(async () => {
  await broker?.stop();
  broker = undefined;
  if (persistDir !== undefined) await rm(persistDir, { recursive: true, force: true });
});

async function usage(of: BrokerHarness): Promise<QueueUsage> {
  const described = await (await of.queue("orders")).describe("orders");
  if (described.usage === undefined) throw new Error("nothing is counted");
  return described.usage;
}

const queues = { orders: { consumer: consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 0 }) } };

it("counts what a queue uses this month, and goes on with it after kill -9", async () => {
  persistDir = await mkdtemp(path.join(tmpdir(), "sluice-usage-"));
  broker = await startBroker({ queues, persistDir });
  await broker.send("orders", Array<string>(10).fill("x".repeat(100)));
  await broker.send("orders", ["y".repeat(70_000)]);
  await broker.until((seen) => seen.flatMap(({ messages }) => messages).length === 11);
  const directory = await broker.directory();
  const reported = async () => (await directory.atRest()).map(({ description }) => description.queue);
  await expect.poll(reported, { timeout: 30_000, interval: 200 }).toEqual(["orders"]);

  const before = await usage(broker);
  expect(before).toMatchObject({ messages: 11, messageChunks: 12, deliveries: 11 });
  expect(before.month).toBe(new Date(before.sinceMs).toISOString().slice(0, 7));
  expect(before.messageBytes).toBeGreaterThan(71_000);
  // Two commits at the very least, the report here and there, and the heartbeat of the deliveries.
  expect(before.rowsWritten).toBeGreaterThanOrEqual(5);
  // Two sends, the alarm, the directory asked at the start and told by the report.
  expect(before.requests).toBeGreaterThanOrEqual(5);
  expect(before.requests).toBeLessThanOrEqual(before.rowsWritten + 20);
  expect(before.awakeMs).toBeGreaterThan(0);

  await broker.kill();
  await broker.stop();
  broker = await startBroker({ queues, persistDir });
  const after = await usage(broker);
  expect(after).toMatchObject({ messages: 11, messageChunks: 12, deliveries: 11, sinceMs: before.sinceMs });
  expect(after.rowsWritten).toBeGreaterThanOrEqual(5);
  // What was asked since the report is not in it: it was never stored.
  expect(after.requests).toBeGreaterThanOrEqual(4);
});

it("writes nothing for an idle queue", async () => {
  broker = await startBroker({ queues });
  await broker.send("orders", ["one"]);
  const directory = await broker.directory();
  const atRest = async () => (await directory.atRest()).length;
  await expect.poll(atRest, { timeout: 30_000, interval: 200 }).toBe(1);
  const { rowsWritten, requests } = await usage(broker);
  const [snapshot] = await directory.atRest();
  expect(snapshot?.description.usage).toMatchObject({ messages: 1, deliveries: 1 });
  expect(await usage(broker)).toMatchObject({ rowsWritten, requests: requests + 1 });
});

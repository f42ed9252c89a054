import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { QueueDescription } from "@sluice/protocol";
import { expect, it } from "vitest";
import { STRUCTURE_CHECK_BYTES_MAX } from "../src/store/file-damage.ts";
import { brokersOfTest } from "./brokers-of-test.ts";
import type { BrokerHarness } from "./harness.ts";
import { consumer } from "./messages.ts";
import { overwritePage, pagesOf } from "./sqlite-file.ts";

/** Waits for an hour, so that nothing is delivered before the damage is done. */
const DELAY_SECONDS = 3_600;
/** Bytes of a large body: two of them fit into a batch. */
const LARGE_BYTES = 120_000;
const queues = { orders: { consumer: consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 0 }) } };

const brokers = brokersOfTest();

/** Kills the process, has something done to the queue's file, and starts another one on it. */
async function restart(damage: (file: string) => void): Promise<BrokerHarness> {
  await brokers.kill();
  damage(await fileOfQueue());
  return brokers.start({ queues });
}

/** The queue's file, with everything in it that was in its log. */
async function fileOfQueue(): Promise<string> {
  const files = await readdir(brokers.folder, { recursive: true });
  const found = files.find((name) => /-QueueBroker\/[0-9a-f]{64}\.sqlite$/.test(name));
  if (found === undefined) throw new Error("the queue has no file");
  const file = path.join(brokers.folder, found);
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return file;
}

/** Sends messages, each large enough for a segment and pages of its own, and answers with their bodies. */
async function sendLarge(broker: BrokerHarness, count: number): Promise<string[]> {
  const bodies = Array.from({ length: count }, (_, i) => `${i} `.padEnd(LARGE_BYTES, "x"));
  for (const body of bodies) {
    expect((await broker.send("orders", [body], { delaySeconds: DELAY_SECONDS })).ok).toBe(true);
  }
  return bodies;
}

const bodiesIn = (from: BrokerHarness) =>
  from.seen.flatMap(({ messages }) => messages.map(({ body }) => body));

/** Lets the delay pass and waits until nothing is left, then sends one more message and waits for it. */
async function deliverAll(from: BrokerHarness): Promise<QueueDescription> {
  const queue = await from.queue("orders");
  await queue.advanceClock("orders", 1_000 * DELAY_SECONDS);
  await expect.poll(() => queue.describe("orders")).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
  expect((await from.send("orders", ["afterwards"])).ok).toBe(true);
  await from.until(() => bodiesIn(from).includes("afterwards"));
  return queue.describe("orders");
}

it("a queue whose database file is damaged delivers what can be read, states what is lost, and takes messages in that survive the next start", async () => {
  const bodies = await sendLarge(await brokers.start({ queues }), 12);
  const again = await restart((file) => {
    // An inner page of a payload: to read or to delete its row fails from then on.
    const pages = pagesOf(file, "segments", "overflow");
    overwritePage(file, pages[Math.floor(pages.length / 2)] ?? 0);
  });
  const kept = await again.send("orders", ["kept"], { delaySeconds: DELAY_SECONDS });
  expect(kept.ok).toBe(true);
  const restarted = await restart(() => {});
  const { damage } = await deliverAll(restarted);
  const delivered = bodiesIn(restarted);
  const missing = bodies.filter((body) => !delivered.includes(body));
  expect(missing.length).toBeGreaterThan(0);
  expect(missing.length).toBeLessThan(bodies.length);
  expect(delivered).toContain("kept");
  expect(new Set(delivered).size).toBe(delivered.length);
  expect(damage.map(({ kind }) => kind)).toContain("structure");
  const stated = damage.reduce((sum, { messagesLost }) => sum + (messagesLost ?? 0), 0);
  expect(stated).toBe(missing.length);
  expect(again.lines.join()).toContain(
    'Queue "orders": the database file was damaged, and what could be read of it is kept in new tables',
  );
});

it("a queue whose database file is damaged finds the rows on both sides of those that cannot be read", async () => {
  const bodies = await sendLarge(await brokers.start({ queues }), 12);
  const again = await restart((file) => {
    const leaves = pagesOf(file, "segments", "leaf");
    expect(leaves.length).toBeGreaterThan(2);
    overwritePage(file, leaves[1] ?? 0);
  });
  await deliverAll(again);
  const delivered = bodiesIn(again);
  expect(delivered).toContain(bodies[0]);
  expect(delivered).toContain(bodies.at(-1));
});

it("a queue whose database file is damaged is repaired when damage is met in it if it is too large to be looked through at every start", async () => {
  const size = 2 * LARGE_BYTES;
  const count = Math.ceil(STRUCTURE_CHECK_BYTES_MAX / size) + 2;
  const broker = await brokers.start({ queues });
  const bodies = ["a ", "b "].map((text) => text.padEnd(LARGE_BYTES, "x"));
  await broker.swarm("orders", bodies, 1, count, { ownDelays: bodies.map(() => DELAY_SECONDS) });
  const again = await restart((file) => {
    expect(statSync(file).size).toBeGreaterThan(STRUCTURE_CHECK_BYTES_MAX);
    const leaves = pagesOf(file, "segments", "leaf");
    overwritePage(file, leaves[Math.floor(leaves.length / 2)] ?? 0);
  });
  const queue = await again.queue("orders");
  await expect
    .poll(async () => (await queue.describe("orders")).damage.map(({ kind }) => kind))
    .toContain("structure");
  const { delayed } = await queue.describe("orders");
  expect(delayed).toBeGreaterThan(0);
  expect(delayed).toBeLessThan(2 * count);
  expect((await again.send("orders", ["kept"], { delaySeconds: DELAY_SECONDS })).ok).toBe(true);
  expect((await queue.describe("orders")).delayed).toBe(delayed + 1);
});

it("a queue whose database file is damaged takes nothing in where the list of free pages is damaged, and says so", async () => {
  const broker = await brokers.start({ queues });
  const bodies = await sendLarge(broker, 6);
  const queue = await broker.queue("orders");
  await queue.advanceClock("orders", 1_000 * DELAY_SECONDS);
  await broker.until(() => bodiesIn(broker).length === bodies.length);
  // What was delivered has left free pages behind.
  await expect.poll(() => queue.describe("orders")).toMatchObject({ leased: 0 });
  await broker.send("orders", ["waits"], { delaySeconds: DELAY_SECONDS });
  const again = await restart((file) => {
    const [trunk] = pagesOf(file, "freelist", "trunk");
    overwritePage(file, trunk ?? 0);
  });
  expect(await again.send("orders", ["refused"])).toMatchObject({
    ok: false,
    code: 15000,
    cause: expect.stringContaining('queue "orders" takes no messages, its database file is damaged'),
  });
  const { delayed, damage } = await (await again.queue("orders")).describe("orders");
  expect(delayed).toBe(1);
  expect(damage).toMatchObject([{ kind: "structure", text: expect.stringContaining("Freelist") }]);
});

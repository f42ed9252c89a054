import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { type BrokerHarness, startBroker } from "./harness.ts";
import { consumer, packTexts } from "./messages.ts";

let broker: BrokerHarness | undefined;

afterEach(async () => {
  await broker?.stop();
  broker = undefined;
});

const SETTINGS = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxRetries: 0, deadLetterQueue: "dead" };

it("tells a story over a dead-letter queue, and keeps it and the figures over a kill -9 of workerd", async () => {
  const stack = "Error: no stock\n    at shop.ts:3";
  const persistDir = await mkdtemp(path.join(tmpdir(), "sluice-history-"));
  onTestFinished(() => rm(persistDir, { recursive: true, force: true }));
  const queues = { orders: { consumer: consumer(SETTINGS) }, dead: {} };
  const harness = await startBroker({
    queues,
    persistDir,
    handler: () => ({ outcome: "exception", error: "Error: no stock", stack }),
  });
  broker = harness;
  const orders = await harness.queue("orders");
  await orders.post("orders", [{ packed: packTexts(["vase"]) }], "shop");
  const dead = await harness.queue("dead");
  const arrived = async () => (await dead.history("dead", { max: 10 })).events;
  await expect.poll(arrived).toHaveLength(1);
  const [id = ""] = (await arrived())[0]?.ids ?? [];
  const kindsOf = async () => (await orders.story("orders", id)).events.map(({ kind }) => kind);
  expect(await kindsOf()).toEqual(["accepted", "delivered", "failed", "deadLettered"]);
  expect((await orders.story("orders", id)).events[2]).toMatchObject({ error: stack, by: "consumer" });
  expect(await dead.story("dead", id)).toMatchObject({
    events: [{ kind: "arrived", by: "orders", past: { queue: "orders", by: "shop" } }],
    before: { queue: "orders", id },
  });
  // What went well is written a second later.
  const rows = async () => (await orders.describe("orders")).rowsWritten;
  const before = await rows();
  await expect.poll(rows).toBeGreaterThan(before);
  await harness.kill();
  await harness.stop();
  broker = await startBroker({ queues, persistDir });
  const again = await broker.queue("orders");
  const { events } = await again.story("orders", id);
  expect(events.map(({ kind }) => kind)).toEqual(["accepted", "delivered", "failed", "deadLettered"]);
  for (const window of ["5m", "1h", "24h"] as const) {
    const { counts, took, held } = await again.figures("orders", { window });
    const totals = Object.entries(counts).map(([kind, column]) => [kind, column.reduce((a, b) => a + b, 0)]);
    expect(Object.fromEntries(totals.map(([kind, total]) => [kind, Math.round(Number(total))]))).toEqual({
      ...{ accepted: 1, delivered: 1, failed: 1, deadLettered: 1 },
    });
    expect(took.tookMs.reduce((a, b) => a + b, 0)).toBe(1);
    expect(Math.max(...held.map((messages) => messages ?? 0))).toBe(1);
  }
});

it("has written quiet events and usage when a drain before a stop is answered", async () => {
  const persistDir = await mkdtemp(path.join(tmpdir(), "sluice-history-"));
  onTestFinished(() => rm(persistDir, { recursive: true, force: true }));
  const options = { queues: { orders: { historySeconds: 3_600 } }, persistDir, sluiceEnv: null };
  broker = await startBroker(options);
  await broker.send("orders", ["a", "b", "c"]);
  expect(await (await broker.queue("orders")).drain("orders")).toEqual({ requests: 0 });
  await broker.kill();
  await broker.stop();
  broker = await startBroker(options);
  const again = await broker.queue("orders");
  const { events } = await again.history("orders", { max: 10 });
  expect(events.map(({ kind, messages }) => [kind, messages])).toEqual([["accepted", 3]]);
  expect((await again.describe("orders")).usage).toMatchObject({ messages: 3 });
});

it("keeps nothing on a deployed broker, unless the queue is set to", async () => {
  broker = await startBroker({ queues: { off: {}, on: { historySeconds: 3_600 } }, sluiceEnv: null });
  for (const name of ["off", "on"]) {
    await broker.send(name, ["a"]);
    const { isOn, events } = await (await broker.queue(name)).history(name, { max: 10 });
    expect({ isOn, events: events.length }).toEqual({ isOn: name === "on", events: name === "on" ? 1 : 0 });
  }
});

import { afterEach, describe, expect, it } from "vitest";
import { type BrokerHarness, type QueueStub, startBroker } from "./harness.ts";
import { bodiesOf, consumer } from "./messages.ts";

let broker: BrokerHarness | undefined;

afterEach(async () => {
  await broker?.stop();
  broker = undefined;
});

/** Methods of the class under test besides the broker's own. */
interface Broken extends QueueStub {
  breakNextCommit(survive: boolean): Promise<void>;
  outcomesOfAlarms(): Promise<string[]>;
}

/** Lets a commit fail once, and notes how each alarm ended. `survive` keeps the object from being reset. */
const BREAKABLE = `
  outcomes = [];
  breakNextCommit(survive) {
    const { storage } = this.ctx;
    const { sql } = storage;
    const exec = (statement, ...values) => {
      if (statement.startsWith("SELECT")) return sql.exec(statement, ...values);
      delete storage.sql;
      throw new Error("the disk failed");
    };
    Object.defineProperty(storage, "sql", { configurable: true, value: { exec } });
    if (survive) this.ctx.abort = () => {};
  }
  takeOne() {
    const packed = new Uint8Array(40);
    return this.take("orders", { source: "elsewhere", id: 1, packed });
  }
  restart() {
    this.ctx.abort("restarted by the test");
  }
  async alarm() {
    try {
      await super.alarm();
      this.outcomes.push("ended");
    } catch (error) {
      this.outcomes.push("threw " + error);
    }
  }
  outcomesOfAlarms() {
    return this.outcomes;
  }
`;

const atOnce = consumer({ maxBatchSize: 10, maxBatchTimeoutSeconds: 1 });

it("the alarm of a queue's object never throws: after six failures in a row the platform would drop it for ever", async () => {
  broker = await startBroker({ queues: { orders: { consumer: atOnce } }, members: BREAKABLE });
  const queue = (await broker.queue("orders")) as Broken;
  await broker.send("orders", ["a"]);
  await queue.breakNextCommit(true);
  await expect.poll(() => queue.outcomesOfAlarms()).not.toEqual([]);
  const outcomes = await queue.outcomesOfAlarms();
  expect(new Set(outcomes)).toEqual(new Set(["ended"]));
  expect(broker.lines).toContainEqual(
    expect.stringMatching(/^Queue "orders": Error: the disk failed\n {4}at .*broker/),
  );
  // It rings again by itself.
  await expect.poll(async () => (await queue.outcomesOfAlarms()).length).toBeGreaterThan(outcomes.length);
});

it("an object whose commit fails refuses the send, starts again from its store and goes on with what was durable", async () => {
  broker = await startBroker({
    queues: { orders: { consumer: consumer({ maxBatchSize: 2, maxBatchTimeoutSeconds: 60 }) } },
    members: BREAKABLE,
  });
  await broker.send("orders", ["durable"]);
  await ((await broker.queue("orders")) as Broken).breakNextCommit(false);
  expect(await broker.refusal("orders", "takeOne")).toContain("the disk failed");
  const again = await broker.queue("orders");
  expect(await again.describe("orders")).toMatchObject({ ready: 1, leased: 0 });
  expect(await broker.send("orders", ["taken"])).toMatchObject({ ok: true });
  await broker.until((seen) => seen.length === 1);
  expect(bodiesOf(broker.seen)).toEqual([["durable", "taken"]]);
});

it("an object that is asked for another queue refuses: one object, one queue", async () => {
  broker = await startBroker({ queues: { orders: {}, invoices: {} } });
  await broker.send("orders", ["a"]);
  const refusal = 'Error: the object of queue "orders" was asked for queue "invoices"';
  for (const [method, ...args] of [
    ["metrics"],
    ["describe"],
    ["send", []],
    ["take", {}],
    ["advanceClock", 1],
  ]) {
    expect(await broker.refusal("orders", String(method), "invoices", ...args)).toBe(refusal);
  }
  const object = await broker.queue("orders");
  expect(await object.metrics("orders")).toMatchObject({ backlogCount: 1 });
});

describe("the clock of an object", () => {
  it.each([null, "production"])("does not move with SLUICE_ENV = %s", async (sluiceEnv) => {
    broker = await startBroker({ queues: { orders: {} }, sluiceEnv });
    expect(await broker.refusal("orders", "advanceClock", "orders", 1)).toBe(
      "Error: clocks move and faults are made in development only",
    );
  });

  it("moves in development, forwards only, and stays moved after a restart", async () => {
    broker = await startBroker({ queues: { orders: {} }, members: BREAKABLE });
    const object = await broker.queue("orders");
    await broker.send("orders", ["later"], { delaySeconds: 3_600 });
    expect(await broker.refusal("orders", "advanceClock", "orders", -1)).toBe(
      "RangeError: the clock cannot move by -1 ms",
    );
    await object.advanceClock("orders", 3_000_000);
    expect(await broker.refusal("orders", "restart")).toContain("restarted by the test");
    const again = await broker.queue("orders");
    expect(await again.describe("orders")).toMatchObject({ ready: 0, delayed: 1 });
    await again.advanceClock("orders", 600_000);
    expect(await again.describe("orders")).toMatchObject({ ready: 1, delayed: 0 });
  });
});

it("a queue of an unusual name is one that no configuration names, even if every object has a property of that name", async () => {
  broker = await startBroker({ queues: { orders: {} } });
  expect(await broker.send("constructor", ["a"])).toEqual({
    ok: false,
    code: 10104,
    cause: 'Queue "constructor" does not exist.',
  });
  expect(await broker.refusal("constructor", "metrics", "constructor")).toBe(
    'QueueNotFoundError: queue "constructor" does not exist (10104)',
  );
});

it("rows of an object include the alarm's: what Cloudflare bills", async () => {
  const queues = { orders: { consumer: consumer({ maxBatchTimeoutSeconds: 60 }) } };
  // On a busy machine the report that is due after 5 s would come in between.
  broker = await startBroker({ queues, timerSpeed: 0.01 });
  const object = await broker.queue("orders");
  const before = (await object.describe("orders")).rowsWritten;
  await broker.send("orders", ["a"]);
  // The segment, the queue's name, what the directory says it is, and the alarm at the batch timeout.
  expect((await object.describe("orders")).rowsWritten - before).toBe(4);
  await broker.send("orders", ["b"]);
  expect((await object.describe("orders")).rowsWritten - before).toBe(5);
});

import { type DeliveryLogs, type HistoryEvent, LOG_LINES_MAX, LOG_UNITS_MAX } from "@sluice/protocol";
import { expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { WORLD_START_MS, World, worldWithHistory } from "../../test/world.ts";
import { LOG_UNITS_PER_SECOND_MAX } from "./printed-limit.ts";
import { QUIET_UNITS_PER_SECOND_MAX, unitsOf } from "./quiet-events.ts";

/** Sends of 100 messages at one moment beyond which single messages are not noted. */
const RUSH_SENDS = Math.ceil(
  QUIET_UNITS_PER_SECOND_MAX / unitsOf({ at: [1, 0, 100], ids: "0".repeat(3_200) }),
);

const SINGLE = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };

function logsOf(...texts: readonly string[]): DeliveryLogs {
  return { lines: texts.map((text) => ({ afterMs: 7, level: "error" as const, text })) };
}

/** Oldest first. */
function printedIn(world: World, queue = "orders"): HistoryEvent[] {
  return [...world.core(queue).history.list({ max: 500, kinds: ["printed"] }).events].reverse();
}

it("what a handler prints is in the story of each message of its batch, before the end of its delivery", async () => {
  const world = worldWithHistory({ orders: { consumer: consumer({ maxBatchSize: 2 }) } });
  world.handler = ({ messages: [a] }) =>
    a?.attempts === 1
      ? { retryMessages: [{ msgId: a.id }], logs: logsOf("TypeError: card declined\n  at pay.ts:3") }
      : { logs: logsOf("paid") };
  await world.send("orders", ["a", "b"]);
  await world.pass(10_000);
  const { events } = world.core("orders").history.list({ max: 500, kinds: ["accepted"] });
  const [a = "", b = ""] = events[0]?.ids ?? [];
  const story = (id: string) => world.core("orders").history.story(id).events;
  expect(story(a).map(({ kind }) => kind)).toEqual([
    ...["accepted", "delivered", "printed", "retried", "delivered", "printed", "acked"],
  ]);
  expect(story(b).map(({ kind }) => kind)).toEqual(["accepted", "delivered", "printed", "acked"]);
  const [, delivered, printed, retried] = story(a);
  expect(printed).toMatchObject({
    by: "consumer",
    messages: 2,
    batch: delivered?.batch,
    logs: { ...logsOf("TypeError: card declined\n  at pay.ts:3"), beganMs: WORLD_START_MS },
  });
  expect(retried?.error).toBe(
    "TypeError: card declined (printed in its batch; its handler asked for the retry)",
  );
});

it("a message whose retry was asked for does not have the error by which its batch failed", async () => {
  const world = worldWithHistory({ orders: { consumer: consumer({ maxBatchSize: 2 }) } });
  world.handler = ({ messages: [a] }) =>
    a?.attempts === 1
      ? {
          outcome: "exception",
          error: "Error: of the vase",
          retryMessages: [{ msgId: a.id, printed: "Error: of the lamp" }],
        }
      : {};
  await world.send("orders", ["lamp", "vase"]);
  await world.pass(10_000);
  const retried = world.core("orders").history.list({ max: 500, kinds: ["retried"] }).events;
  expect(retried.map(({ error }) => error).sort()).toEqual([
    "Error: of the lamp (printed; its handler asked for the retry)",
    null,
  ]);
});

it("a dead letter takes along what was printed for it and not for others of its batch", async () => {
  const world = worldWithHistory({
    orders: { consumer: consumer({ maxBatchSize: 3, maxRetries: 0, deadLetterQueue: "dead" }) },
    dead: {},
  });
  world.handler = ({ messages }) => ({
    retryMessages: messages.slice(0, 2).map(({ id, body }) => ({ msgId: id, printed: `Error: no ${body}` })),
    logs: logsOf("Error: no lamp", "Error: no vase"),
  });
  await world.sendAndPass("orders", ["lamp", "vase", "sofa"], 1_000);
  const arrived = world.core("dead").history.list({ max: 500, kinds: ["arrived"] }).events;
  const errors = arrived.flatMap(({ ids }) =>
    ids.map((id) => world.core("dead").history.story(id).events[0]?.past?.ends[0]?.error),
  );
  expect(errors.sort()).toEqual([
    "Error: no lamp (printed; its handler asked for the retry)",
    "Error: no vase (printed; its handler asked for the retry)",
  ]);
  expect(world.lines.filter((line) => line.includes("dead letter queue")).sort()).toEqual(
    [
      expect.stringContaining("after 1 failed attempt(s): Error: no lamp (printed;"),
      expect.stringContaining("after 1 failed attempt(s): Error: no vase (printed;"),
    ].sort(),
  );
});

it.each<[string, { logs?: boolean; historySeconds?: number }, boolean, boolean]>([
  ["in development", {}, true, true],
  ["in development without a history", { historySeconds: 0 }, true, false],
  ["in development where it is off", { logs: false }, true, false],
  ["on a deployed broker", { historySeconds: 60 }, false, false],
  ["on a deployed broker where it is on", { historySeconds: 60, logs: true }, false, true],
  ["without a history where it is on", { logs: true }, false, true],
])("a consumer is asked for what handlers print: %s", async (_where, settings, isDevelopment, asked) => {
  const world = new World({ orders: { consumer: consumer(SINGLE), ...settings } });
  world.keepsHistory = isDevelopment;
  const deliver = world.deliver;
  const wanted: unknown[] = [];
  world.deliver = (delivery) => {
    wanted.push(delivery.logs ?? false);
    return deliver(delivery);
  };
  await world.sendAndPass("orders", ["a"], 1_000);
  expect(wanted).toEqual([asked]);
});

it("what is printed costs no row of its own", async () => {
  const rowsOf = async (logs: DeliveryLogs | undefined, outcome: string) => {
    const world = worldWithHistory({ orders: { consumer: consumer({ ...SINGLE, retryDelaySeconds: 60 }) } });
    world.sharesCommits = true;
    world.handler = () => ({ outcome, ...(logs === undefined ? {} : { logs }) });
    for (let i = 0; i < 20; i++) await world.sendAndPass("orders", ["a"], 100);
    await world.pass(2_000);
    return { events: printedIn(world).length, rows: world.store("orders").rowsWritten };
  };
  for (const outcome of ["ok", "exception"]) {
    const quiet = await rowsOf(undefined, outcome);
    expect(await rowsOf(logsOf("x".repeat(200)), outcome)).toEqual({ events: 20, rows: quiet.rows });
  }
});

it.each([-1, 0, 1])(
  "what is printed in a second has a limit, at %i of it; beyond it lines are counted",
  async (more) => {
    const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
    const each = LOG_UNITS_MAX - 50;
    const whole = LOG_UNITS_PER_SECOND_MAX / LOG_UNITS_MAX;
    world.handler = ({ messages: [message] }) => ({
      logs: logsOf("x".repeat(message?.body === "last" ? each + more : each)),
    });
    for (let i = 1; i < whole; i++) await world.send("orders", ["x"]);
    await world.send("orders", ["last"]);
    await world.quiet();
    const logs = printedIn(world).map((event) => event.logs);
    expect(logs).toHaveLength(whole);
    expect(logs.at(-1)).toMatchObject(more > 0 ? { lines: [], leftOut: 1 } : { lines: [{ afterMs: 7 }] });
    await world.sendAndPass("orders", ["x"], 1_000);
    await world.sendAndPass("orders", ["x"], 1_000);
    expect(printedIn(world).at(-1)?.logs?.lines).toHaveLength(1);
  },
);

it("what is printed in a second of which events are merged is counted by deliveries", async () => {
  const world = worldWithHistory({ orders: { consumer: consumer({ maxBatchSize: 100 }) } });
  world.handler = () => ({ logs: logsOf("x") });
  for (let i = 0; i < RUSH_SENDS; i++) {
    await world.send("orders", Array<string>(100).fill("x"));
    await world.quiet();
  }
  const merged = printedIn(world).filter((event) => event.merged !== null);
  expect(merged.length).toBeGreaterThan(0);
  expect(merged.some((event) => "logs" in event)).toBe(false);
  const one = printedIn(world).filter((event) => event.merged === null);
  expect(one.length).toBeGreaterThan(0);
  expect(merged.reduce((sum, event) => sum + (event.merged?.events ?? 0), one.length)).toBe(RUSH_SENDS);
});

it("what a handler had printed that was ended is kept", async () => {
  const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
  world.deliver = () => Promise.reject(new Error("hung"));
  const none = { ackAll: false, retryBatch: { retry: false }, explicitAcks: [], retryMessages: [] };
  world.callsOf = async () => ({ ...none, logs: logsOf("begun") });
  await world.sendAndPass("orders", ["a"]);
  expect(printedIn(world)[0]).toMatchObject({ logs: logsOf("begun") });
});

it("the last delivery of a consumer is one with a reason, and no failure, where its handler asks for a retry", async () => {
  const world = worldWithHistory({ orders: { consumer: consumer({ ...SINGLE, retryDelaySeconds: 60 }) } });
  world.handler = () => ({ retryBatch: { retry: true }, logs: logsOf("Error: no stock") });
  await world.sendAndPass("orders", ["a"]);
  expect(world.core("orders").describe().consumer).toMatchObject({
    consecutiveFailures: 0,
    lastDelivery: { failure: "Error: no stock (printed; its handler asked for the retry)" },
  });
  // From the second in a row on the queue is in trouble.
  await world.pass(60_000);
  expect(world.core("orders").describe().consumer).toMatchObject({
    consecutiveFailures: 2,
    lastDelivery: { failure: "Error: no stock (printed; its handler asked for the retry)" },
  });
  world.handler = () => ({});
  await world.pass(60_000);
  expect(world.core("orders").describe().consumer).toMatchObject({ consecutiveFailures: 0 });
});

it("a consumer that retries a part of each batch does not fail, one that retries each message by itself does", async () => {
  const settings = { maxBatchSize: 2, maxBatchTimeoutSeconds: 0, retryDelaySeconds: 60 };
  const world = worldWithHistory({ orders: { consumer: consumer(settings) } });
  world.handler = ({ messages: [first] }) => ({ retryMessages: first ? [{ msgId: first.id }] : [] });
  const failures = () => world.core("orders").describe().consumer?.consecutiveFailures;
  for (let i = 0; i < 3; i++) await world.sendAndPass("orders", ["a", "b"]);
  expect(failures()).toBe(0);
  world.handler = ({ messages }) => ({ retryMessages: messages.map(({ id }) => ({ msgId: id })) });
  for (let i = 0; i < 3; i++) await world.sendAndPass("orders", ["a", "b"]);
  expect(failures()).toBe(3);
});

it.each<[string, unknown]>([
  ["no object", 5],
  ["no lines", {}],
  ["lines without a level", { lines: [{ afterMs: 0, text: "x" }] }],
  ["lines without a time", { lines: [{ afterMs: Number.NaN, level: "log", text: "x" }] }],
  ["too many lines", { lines: Array(LOG_LINES_MAX + 2).fill({ afterMs: 0, level: "log", text: "" }) }],
  ["too much text", { lines: [{ afterMs: 0, level: "log", text: "x".repeat(2 * LOG_UNITS_MAX) }] }],
])("logs that no consumer sends are left out, the result counts: %s", async (_what, logs) => {
  const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
  world.handler = () => ({ logs: logs as DeliveryLogs });
  await world.sendAndPass("orders", ["a"], 1_000);
  expect(world.handled).toEqual([["orders", 1, 1]]);
  expect(printedIn(world)).toEqual([]);
});

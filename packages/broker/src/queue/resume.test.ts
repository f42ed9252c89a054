import { expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";

const atOnce = { maxBatchTimeoutSeconds: 0 };

it("a queue that starts again goes on by itself with what an earlier epoch left", async () => {
  const world = new World({ orders: { consumer: consumer({ maxBatchTimeoutSeconds: 60 }) } });
  await world.send("orders", ["a", "b"], { ownDelays: [30, 0] });
  world.crash("orders");
  await world.pass(59_999);
  expect(world.seen).toEqual([]);
  await world.pass(1);
  expect(bodiesOf(world.seen)).toEqual([["b", "a"]]);
  expect(world.seen[0]?.messages[0]?.attempts).toBe(1);
});

it("a queue that starts again delivers again what was in delivery, counts the attempt, and says so", async () => {
  const world = new World({ orders: { consumer: consumer(atOnce) } });
  world.handler = () => new Promise(() => {});
  await world.sendAndPass("orders", ["a", "b"]);
  world.handler = () => ({});
  world.crash("orders");
  await world.pass(HEARTBEAT_MS);
  expect(world.seen.map((batch) => batch.messages.map(({ body, attempts }) => [body, attempts]))).toEqual([
    [
      ["a", 1],
      ["b", 1],
    ],
    [
      ["a", 2],
      ["b", 2],
    ],
  ]);
  expect(world.lines).toEqual([
    'info: Queue "orders": 2 messages are delivered again, since the broker stopped during the delivery',
  ]);
});

it("a queue that starts again does not count the attempt after an end that was planned, and says so", async () => {
  const world = new World({ orders: { consumer: consumer({ ...atOnce, maxRetries: 0 }) } });
  world.handler = () => new Promise(() => {});
  await world.send("orders", ["a"]);
  for (let i = 0; i < 3; i++) {
    await world.pass(0);
    world.restart("orders", true);
  }
  world.handler = () => ({});
  await world.pass(0);
  expect(world.seen.map(({ messages: [message] }) => message?.attempts)).toEqual([1, 1, 1, 1]);
  expect(world.handled).toEqual([["orders", 1, 1]]);
  expect(world.lines).toEqual(
    Array(3).fill(
      'info: Queue "orders": 1 message is delivered again, since the broker stopped during the delivery; ' +
        "that delivery does not count as an attempt",
    ),
  );
});

it.each([
  [false, 3_000],
  [true, 0],
])(
  "a queue that starts again waits with the messages where it is told to, but not after an end that was planned: %s",
  async (wasPlanned, delayMs) => {
    const world = new World({ orders: { consumer: consumer(atOnce) } });
    world.handler = () => new Promise(() => {});
    await world.sendAndPass("orders", ["a"]);
    world.cutOffDelayMs = 3_000;
    world.restart("orders", wasPlanned);
    await world.pass(Math.max(0, delayMs - 1));
    expect(world.seen).toHaveLength(delayMs === 0 ? 2 : 1);
    await world.pass(1);
    expect(world.seen).toHaveLength(2);
  },
);

it("a queue that starts again counts the attempts before and after an end that was planned", async () => {
  const world = new World({ orders: { consumer: consumer({ ...atOnce, maxRetries: 1 }) } });
  world.handler = () => new Promise(() => {});
  await world.send("orders", ["a"]);
  for (const wasPlanned of [false, true, false]) {
    await world.pass(0);
    world.restart("orders", wasPlanned);
  }
  await world.quiet();
  expect(world.seen.map(({ messages: [message] }) => message?.attempts)).toEqual([1, 2, 2]);
  expect(world.lines.at(-1)).toMatch(/after 2 failed attempt\(s\): the broker stopped/);
});

it("a queue that starts again says of dead letters how the end came about that has cut them off", async () => {
  const world = new World({ orders: { consumer: consumer({ ...atOnce, maxRetries: 0 }) } });
  world.handler = () => new Promise(() => {});
  await world.sendAndPass("orders", ["a"]);
  world.cutOffReason = "its handler did not answer";
  world.restart("orders");
  await world.quiet();
  expect(world.lines.at(-1)).toMatch(/after 1 failed attempt\(s\): its handler did not answer/);
});

it("a queue that starts again says how many messages were in delivery, wherever in their segment they lie", async () => {
  const world = new World({
    orders: { consumer: consumer({ ...atOnce, maxBatchSize: 1, maxConcurrency: 1 }) },
  });
  world.handler = ({ messages: [message] }) => (message?.body === "b" ? new Promise(() => {}) : {});
  await world.sendAndPass("orders", ["a", "b", "c"]);
  world.restart("orders");
  await world.pass(0);
  expect(world.lines).toEqual([
    'info: Queue "orders": 1 message is delivered again, since the broker stopped during the delivery',
  ]);
});

it("a queue that starts again is woken by its alarm within the heartbeat while a delivery runs, however long it runs", async () => {
  const world = new World({ orders: { consumer: consumer(atOnce) } });
  world.handler = () => new Promise(() => {});
  await world.send("orders", ["a"]);
  for (let i = 0; i < 20; i++) {
    await world.pass(1_700);
    expect(world.alarmIn("orders")).toBeLessThanOrEqual(HEARTBEAT_MS);
  }
  expect(world.seen).toHaveLength(1);
});

it("a queue that starts again ends deliveries that were the last attempt, once", async () => {
  const world = new World({ orders: { consumer: consumer({ ...atOnce, maxRetries: 0 }) } });
  world.handler = () => new Promise(() => {});
  await world.sendAndPass("orders", ["poison"]);
  world.restart("orders");
  await world.quiet();
  const [line, ...others] = world.lines;
  expect(line).toMatch(
    /^warn: Dropped message ".*" on queue "orders" after 1 failed attempt\(s\): the broker stopped/,
  );
  expect(others).toEqual([]);
  expect([...world.store("orders").segments()]).toEqual([]);
  world.restart("orders");
  await world.quiet();
  expect(world.lines).toHaveLength(1);
});

it("a queue that starts again leaves nothing in the store of messages that an earlier epoch had touched", async () => {
  const world = new World({ orders: { consumer: consumer({ ...atOnce, retryDelaySeconds: 60 }) } });
  world.handler = () => ({ outcome: "exception" });
  await world.sendAndPass("orders", ["a", "b"]);
  world.handler = () => ({});
  world.crash("orders");
  await world.sendAndPass("orders", ["c"], 60_000);
  world.store("orders").damage(({ segments, states }) => {
    expect([segments.size, states.size]).toEqual([0, 0]);
  });
});

it("a queue that starts again leaves no state behind of messages that expire before they are touched again", async () => {
  const world = new World({
    orders: { messageRetentionSeconds: 60, consumer: consumer({ ...atOnce, retryDelaySeconds: 3_600 }) },
  });
  world.handler = () => ({ outcome: "exception" });
  await world.sendAndPass("orders", ["a"]);
  world.crash("orders");
  await world.pass(60_000);
  world.store("orders").damage(({ segments, states }) => {
    expect([segments.size, states.size]).toEqual([0, 0]);
  });
});

it("a queue that starts again writes nothing and sets no alarm when there is nothing", async () => {
  const world = new World({ orders: { consumer: consumer() } });
  world.core("orders");
  await world.pass(1_000_000);
  expect(world.store("orders").commits).toBe(0);
  expect(world.alarms).toEqual([]);
});

it("a queue that starts again counts its epochs, so that ids are never given twice", async () => {
  const world = new World({ orders: {} });
  for (let epoch = 1; epoch <= 3; epoch++) {
    await world.send("orders", [`of epoch ${epoch}`]);
    expect(world.store("orders").readEpoch()).toBe(epoch);
    world.crash("orders");
  }
  expect([...world.store("orders").segments()].map(({ id }) => Math.floor(id / 2 ** 32))).toEqual([1, 2, 3]);
});

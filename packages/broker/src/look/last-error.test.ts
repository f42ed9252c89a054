import { type LookRequest, type MessageFilter, PULL_MESSAGES_MAX, parseFilter } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { consumer, pullConsumer } from "../../test/messages.ts";
import { World, worldWithHistory } from "../../test/world.ts";

const SINGLE = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, retryDelaySeconds: 60 };

function look(world: World, queue: string, request: Partial<LookRequest> = {}) {
  return world.core(queue).messages.look({ max: PULL_MESSAGES_MAX, ...request });
}

function filterOf(text: string): MessageFilter {
  const parsed = parseFilter(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.filter;
}

const bodyOf = ({ body }: { body: Uint8Array }) => new TextDecoder().decode(body);

/** The messages of a queue with their last errors. */
const errorsOf = (world: World, queue: string) =>
  look(world, queue).messages.map((message) => [bodyOf(message), message.lastError]);

/** A queue whose handler throws what a message says; one that says nothing goes well. */
function shop(maxRetries: number, queues: World["queues"] | object = {}) {
  const world = worldWithHistory({
    orders: { consumer: consumer({ ...SINGLE, maxRetries, deadLetterQueue: "dead" }) },
    dead: {},
    ...queues,
  });
  world.handler = ({ messages: [message] }) => {
    const error = `Error: ${message?.body}`;
    return { outcome: "exception", error, stack: `${error}\n    at shop.ts:3` };
  };
  return world;
}

describe("the last error of a message", () => {
  it("of a dead letter is the one that killed it, over a crash and a redrive too", async () => {
    const world = shop(0, { parked: {} });
    await world.send("orders", ["declined", "out of stock"]);
    await world.pass(1_000);
    const dead = [
      ["declined", "Error: declined"],
      ["out of stock", "Error: out of stock"],
    ];
    expect(errorsOf(world, "dead")).toEqual(dead);
    world.crash("dead");
    expect(errorsOf(world, "dead")).toEqual(dead);
    await world.core("dead").moves.begin({ taskId: "task", target: "parked", ratePerSecond: null });
    await world.pass(1_000);
    expect(errorsOf(world, "parked")).toEqual(dead);
  });

  it("stands beside the deliveries in the queue that gave the message up, over a crash too", async () => {
    const world = shop(2, { parked: {} });
    await world.send("orders", ["declined"]);
    await world.pass(200_000);
    await world.send("dead", ["straight"]);
    world.crash("dead");
    const attempts = (queue: string) =>
      look(world, queue).messages.map((message) => [message.attempts, message.attemptsBefore]);
    expect(attempts("dead")).toEqual([
      [0, 3],
      [0, undefined],
    ]);
    await world.core("dead").moves.begin({ taskId: "task", target: "parked", ratePerSecond: null });
    await world.pass(1_000);
    expect(attempts("parked")[0]).toEqual([0, 3]);
  });

  it("of a message that waits for a retry is that of its last delivery, over a crash too", async () => {
    const world = shop(5);
    let n = 0;
    world.handler = () => ({ outcome: "exception", error: `Error: ${++n}`, stack: `Error: ${n}\n    at x` });
    await world.send("orders", ["a"]);
    await world.pass(1_000);
    expect(errorsOf(world, "orders")).toEqual([["a", "Error: 1"]]);
    await world.pass(60_000);
    expect(errorsOf(world, "orders")).toEqual([["a", "Error: 2"]]);
    world.crash("orders");
    expect(errorsOf(world, "orders")).toEqual([["a", "Error: 2"]]);
    expect(look(world, "orders").messages).toMatchObject([{ state: "delayed", attempts: 2 }]);
  });

  it("is the reason of a handler's retry, and none of a message that nothing has happened to", async () => {
    const world = shop(5);
    world.handler = ({ messages: [message] }) =>
      message?.body === "again" ? { retryBatch: { retry: true } } : {};
    await world.send("orders", ["again"]);
    await world.send("orders", ["later"], { delaySeconds: 600 });
    await world.pass(1_000);
    expect(errorsOf(world, "orders")).toEqual([
      ["again", "its handler asked for it"],
      ["later", null],
    ]);
  });

  it("is not that no consumer was there, since that delivery does not count", async () => {
    const world = shop(5);
    world.running = false;
    await world.send("orders", ["a"]);
    await world.pass(1_000);
    expect(errorsOf(world, "orders")).toEqual([["a", null]]);
  });

  it("is not known without a history, and no row of one is read", async () => {
    const world = new World({ orders: { consumer: pullConsumer({ retryDelaySeconds: 60 }) } });
    await world.send("orders", ["a"]);
    const pulled = await world.core("orders").pull({ max: 1 });
    expect(pulled).toMatchObject({ ok: true });
    world.store("orders").journalHeads = () => {
      throw new Error("a row was read");
    };
    expect(errorsOf(world, "orders")).toEqual([["a", null]]);
  });
});

describe("a filter of errors", () => {
  it.each([
    ["error:declined", ["card declined", "DECLINED again"]],
    ['error:"error: card DECLINED"', ["card declined"]],
    ["error:declined again", ["DECLINED again"]],
    ["error:nothing", []],
  ])("the filter %s finds %j, dead or waiting", async (text, expected) => {
    for (const [maxRetries, queue] of [
      [0, "dead"],
      [5, "orders"],
    ] as const) {
      const world = shop(maxRetries);
      await world.send("orders", ["card declined", "no stock", "DECLINED again"]);
      await world.pass(1_000);
      const { messages } = look(world, queue, { filter: filterOf(text) });
      expect([queue, messages.map(bodyOf)]).toEqual([queue, expected]);
    }
  });

  it("chooses the dead letters of a move", async () => {
    const world = shop(0, { parked: {} });
    await world.send("orders", ["declined", "no stock", "declined"]);
    await world.pass(1_000);
    const selection = { filter: filterOf("error:declined") };
    await world.core("dead").moves.begin({ taskId: "t", target: "parked", ratePerSecond: null, selection });
    await world.pass(1_000);
    expect(errorsOf(world, "dead")).toEqual([["no stock", "Error: no stock"]]);
    expect(look(world, "parked").of).toBe(2);
  });
});

it("the messages that fit are counted by their last errors, the most frequent first", async () => {
  const world = shop(0);
  await world.send("orders", ["a", "b", "b", "c", "b", "c"]);
  await world.pass(1_000);
  await world.send("dead", ["straight"]);
  const counted = { max: 0, countsAll: true, countsErrors: true };
  expect(look(world, "dead", counted)).toEqual({
    messages: [],
    matched: 7,
    cursor: null,
    searched: 7,
    of: 7,
    nowMs: world.nowMs,
    errors: {
      groups: [
        { error: "Error: b", count: 3 },
        { error: "Error: c", count: 2 },
        { error: "Error: a", count: 1 },
      ],
      others: 0,
      none: 1,
    },
  });
  const errors = { groups: [{ error: "Error: c", count: 2 }], others: 0, none: 0 };
  expect(look(world, "dead", { ...counted, filter: filterOf("c") })).toMatchObject({ matched: 2, errors });
});

it("errors that differ in numbers and ids are one group, which a filter finds by its text or any of them", async () => {
  const world = shop(0);
  const ids = ["5f1c52a0d9b34c1f", "00aabbccddeeff01", "4f1c52a0-d9b3-4c1f-8a0e-6a7712c3d4e5"];
  await world.send("orders", [
    "no stock",
    ...ids.map((id, i) => `order ${60_000 + i} declined by "bank" ${id}`),
  ]);
  await world.pass(1_000);
  const { errors } = look(world, "dead", { max: 0, countsAll: true, countsErrors: true });
  const text = 'Error: order # declined by "bank" #';
  expect(errors?.groups).toEqual([
    { error: `Error: order 60000 declined by "bank" ${ids[0]}`, count: 3, text },
    { error: "Error: no stock", count: 1 },
  ]);
  for (const like of [text, errors?.groups[0]?.error]) {
    const filter = filterOf(`errorGroup:${JSON.stringify(like)}`);
    expect(look(world, "dead", { filter }).messages).toHaveLength(3);
  }
  // A text that others have in them too.
  const filter = filterOf('errorGroup:"stock"');
  expect(look(world, "dead", { filter }).messages).toEqual([]);
});

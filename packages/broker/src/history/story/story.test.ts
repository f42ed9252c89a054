import { expect, it } from "vitest";
import { consumer, packTexts, pullConsumer, testId } from "../../../test/messages.ts";
import { WORLD_START_MS, World, worldWithHistory } from "../../../test/world.ts";
import { DELETED_PER_EVENT_MAX } from "../../receive/peek.ts";
import { QUIET_UNITS_PER_SECOND_MAX, unitsOf } from "../quiet-events.ts";

/** Sends of 100 messages at one moment beyond which single messages are not noted. */
const RUSH_SENDS = Math.ceil(
  QUIET_UNITS_PER_SECOND_MAX / unitsOf({ at: [1, 0, 100], ids: "0".repeat(3_200) }),
);

const SINGLE = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0 };
const FAILED = { outcome: "exception", error: "Error: no stock", stack: "Error: no stock\n    at shop.ts:3" };

/** Ids of the messages that were accepted, in order. */
function acceptedIn(world: World, queue: string): string[] {
  return [...world.core(queue).history.list({ max: 500, kinds: ["accepted", "arrived"] }).events]
    .reverse()
    .flatMap(({ ids }) => ids);
}

function kindsOf(world: World, queue: string, id: string): string[] {
  return world
    .core(queue)
    .history.story(id)
    .events.map(({ kind }) => kind);
}

it("the story of a message is what happened to it and to no other one, also when it is gone", async () => {
  const world = worldWithHistory({ orders: { consumer: consumer({ maxBatchSize: 3 }) } });
  world.handler = ({ messages }) => ({
    explicitAcks: messages.filter(({ body }) => body !== "b").map(({ id }) => id),
    retryMessages: messages
      .filter(({ body, attempts }) => body === "b" && attempts === 1)
      .map(({ id }) => ({ msgId: id, delaySeconds: 2 })),
  });
  await world.sendAndPass("orders", ["a", "b", "c"], 10_000);
  const [a = "", b = ""] = acceptedIn(world, "orders");
  expect(kindsOf(world, "orders", a)).toEqual(["accepted", "delivered", "acked"]);
  expect(kindsOf(world, "orders", b)).toEqual(["accepted", "delivered", "retried", "delivered", "acked"]);
  const { events, gaps, before, after } = world.core("orders").history.story(b);
  expect(events.every(({ ids }) => ids.join() === b)).toBe(true);
  expect({ gaps, before, after }).toEqual({ gaps: [], before: null, after: null });
  expect(kindsOf(world, "orders", testId())).toEqual([]);
});

it("the story of a message begins at the first send in a dead-letter queue, and goes on where a move task has put it", async () => {
  const world = worldWithHistory({
    orders: { consumer: consumer({ ...SINGLE, maxRetries: 1, deadLetterQueue: "dead" }) },
    dead: {},
  });
  world.handler = () => FAILED;
  await world.core("orders").send([{ packed: packTexts(["vase"]) }], "shop");
  await world.pass(1_000);
  const [id = ""] = acceptedIn(world, "orders");
  const story = (queue: string, of: string) => world.core(queue).history.story(of);
  expect(kindsOf(world, "orders", id)).toEqual([
    ...["accepted", "delivered", "failed", "retried", "delivered", "failed", "deadLettered"],
  ]);
  expect(story("orders", id)).toMatchObject({ before: null, after: { queue: "dead", id } });
  const [arrived] = story("dead", id).events;
  expect(arrived).toMatchObject({ kind: "arrived", by: "orders", ids: [id] });
  expect(arrived?.past).toMatchObject({
    queue: "orders",
    id,
    by: "shop",
    ends: [{ queue: "orders", id, kind: "deadLettered", attempts: 2, error: "Error: no stock" }],
  });
  expect(story("dead", id).before).toEqual({ queue: "orders", id });

  world.handler = () => ({});
  await world.core("dead").moves.begin({ taskId: "task", target: "orders", ratePerSecond: null });
  await world.pass(1_000);
  const { after } = story("dead", id);
  expect(after).toMatchObject({ queue: "orders", id: expect.not.stringMatching(id) });
  const newId = after?.id ?? "";
  expect(kindsOf(world, "orders", newId)).toEqual(["arrived", "delivered", "acked"]);
  expect(story("orders", newId).before).toEqual({ queue: "dead", id });
  expect(story("orders", newId).events[0]?.past?.ends.map(({ kind, queue }) => [kind, queue])).toEqual([
    ["deadLettered", "orders"],
    ["redriven", "dead"],
  ]);
});

it("the story of a message costs a dead letter none of its size", async () => {
  const bytesOf = async (keeps: boolean) => {
    const world = new World({
      orders: { consumer: consumer({ ...SINGLE, maxRetries: 0, deadLetterQueue: "dead" }) },
      dead: {},
    });
    world.keepsHistory = keeps;
    world.handler = () => FAILED;
    await world.sendAndPass("orders", ["vase"], 1_000);
    return world.core("dead").describe();
  };
  const { ready, backlogBytes } = await bytesOf(true);
  expect({ ready, backlogBytes }).toEqual({ ready: 1, backlogBytes: (await bytesOf(false)).backlogBytes });
});

it("the story of a message says where so much happened that single messages were not noted", async () => {
  const world = worldWithHistory({ orders: { consumer: pullConsumer() } });
  const bodies = Array<string>(100).fill("x");
  for (let i = 0; i < RUSH_SENDS; i++) await world.send("orders", bodies);
  await world.core("orders").send([{ packed: packTexts(["late"]) }], "shop");
  for (let i = 0; i < RUSH_SENDS; i++) {
    await world.pass(1_000);
    await world.core("orders").pull({ max: 100, visibilityTimeoutMs: 60_000 });
  }
  await world.core("orders").pull({ max: 1 });
  const { events } = world.core("orders").history.list({ max: 500 });
  expect(events.filter(({ merged }) => merged !== null)).toMatchObject([
    { kind: "accepted", messages: 1, ids: [], by: "shop", merged: { events: 1, untilMs: WORLD_START_MS } },
  ]);
  const [late = ""] = events[0]?.ids ?? [];
  expect(world.core("orders").history.story(late)).toMatchObject({
    events: [{ kind: "delivered", attempt: 1 }],
    gaps: [
      {
        queue: "orders",
        reason: "merged",
        kinds: ["accepted"],
        sinceMs: WORLD_START_MS,
        untilMs: WORLD_START_MS,
      },
    ],
  });
  const [first = ""] = acceptedIn(world, "orders");
  expect(world.core("orders").history.story(first).gaps).toEqual([]);
});

it("the story of a message that was deleted by hand has its end, though its send was merged", async () => {
  const world = worldWithHistory({ orders: { consumer: pullConsumer() } });
  const core = world.core("orders");
  for (let i = 0; i < RUSH_SENDS; i++) await world.send("orders", Array<string>(100).fill("x"));
  await core.purge();
  await world.send("orders", Array<string>(DELETED_PER_EVENT_MAX).fill("y"));
  await world.send("orders", ["z"]);
  const { messages, cursor } = core.messages.look({ max: 100 });
  const last = [...messages, ...core.messages.look({ max: 100, cursor: cursor ?? "" }).messages];
  expect(last).toHaveLength(DELETED_PER_EVENT_MAX + 1);
  expect(await core.deleteByRefs(last.map(({ ref }) => ref))).toMatchObject({ deleted: last.length });
  for (const { id } of last) {
    expect(core.history.story(id)).toMatchObject({
      events: [{ kind: "deleted" }],
      gaps: [{ reason: "merged", kinds: ["accepted"] }],
    });
  }
  const deleted = core.history.list({ max: 10, kinds: ["deleted"] }).events;
  expect(deleted.map(({ messages }) => messages)).toEqual([1, DELETED_PER_EVENT_MAX]);
});

it("the story of a message is still told for a queue whose history was turned off, and shows that gap", async () => {
  const world = new World({ orders: { historySeconds: 3_600 } });
  await world.send("orders", ["a"]);
  const [id = ""] = acceptedIn(world, "orders");
  Object.assign(world.queues, { orders: { ...world.queues.orders, historySeconds: 0 } });
  expect(world.core("orders").history.story(id)).toMatchObject({
    events: [{ kind: "accepted" }],
    gaps: [{ queue: "orders", reason: "off" }],
  });
});

it("the story of a message whose send a crash has lost says so", async () => {
  const world = worldWithHistory({ orders: { consumer: pullConsumer() } });
  world.sharesCommits = true;
  await world.send("orders", ["a"]);
  world.crash("orders");
  await world.core("orders").pull({ max: 1 });
  const [id = ""] = world.core("orders").history.list({ max: 1 }).events[0]?.ids ?? [];
  expect(world.core("orders").history.story(id)).toMatchObject({
    events: [{ kind: "delivered", attempt: 1 }],
    gaps: [{ queue: "orders", reason: "unknown", untilMs: WORLD_START_MS }],
  });
});

it("the story of a message whose end a crash has lost says so, and that of one which is still there does not", async () => {
  const world = worldWithHistory({ orders: { consumer: pullConsumer() } });
  world.sharesCommits = true;
  await world.send("orders", ["gone", "here"]);
  const pulled = await world.core("orders").pull({ max: 2, visibilityTimeoutMs: 3_600_000 });
  await world.pass(2_000);
  const [gone = "", here = ""] = acceptedIn(world, "orders");
  const [ack = ""] = pulled.ok ? pulled.batch.leaseIds : [];
  await world.core("orders").settleLeases({ acks: [ack], retries: [] });
  await world.core("orders").wake();
  expect(world.core("orders").history.story(gone)).toMatchObject({ events: { length: 3 }, gaps: [] });
  world.crash("orders");
  const { events, gaps } = world.core("orders").history.story(gone);
  expect(events.map(({ kind }) => kind)).toEqual(["accepted", "delivered"]);
  expect(gaps).toEqual([
    {
      ...{ queue: "orders", reason: "unknown", sinceMs: WORLD_START_MS, untilMs: null },
      after: events[1]?.number,
    },
  ]);
  expect(world.core("orders").history.story(here)).toMatchObject({ events: { length: 2 }, gaps: [] });
});

it("the story of a message has a gap where a crash has lost its delivery", async () => {
  const world = worldWithHistory({
    orders: {
      consumer: consumer({ ...SINGLE, maxRetries: 2, retryDelaySeconds: 10, deadLetterQueue: "dead" }),
    },
    dead: {},
  });
  world.sharesCommits = true;
  world.handler = () => ({ retryBatch: { retry: true } });
  await world.sendAndPass("orders", ["vase"], 19_000);
  const [id = ""] = acceptedIn(world, "orders");
  world.handler = () => new Promise(() => {});
  await world.pass(1_000);
  expect(kindsOf(world, "orders", id).at(-1)).toBe("delivered");
  world.crash("orders");
  await world.pass(1_000);
  const { events, gaps } = world.core("orders").history.story(id);
  expect(events.map(({ kind, attempt }) => [kind, attempt])).toEqual([
    ["accepted", null],
    ...[1, 2].flatMap((attempt) => [
      ["delivered", attempt],
      ["retried", attempt],
    ]),
    ["deadLettered", 3],
  ]);
  const [before, end] = events.slice(-2);
  expect(gaps).toEqual([
    {
      ...{ queue: "orders", reason: "unknown", sinceMs: before?.atMs, untilMs: end?.atMs },
      after: before?.number,
    },
  ]);
});

it("the story of a message has a gap where a crash has lost its first delivery, which was cut off", async () => {
  const world = worldWithHistory({ orders: { consumer: consumer(SINGLE) } });
  world.sharesCommits = true;
  world.handler = () => new Promise(() => {});
  await world.send("orders", ["vase"], { delaySeconds: 10 });
  await world.pass(10_000);
  const [id = ""] = acceptedIn(world, "orders");
  expect(kindsOf(world, "orders", id)).toEqual(["accepted", "delivered"]);
  world.crash("orders");
  await world.pass(5_000);
  const { events, gaps } = world.core("orders").history.story(id);
  expect(events.map(({ kind }) => kind)).toEqual(["accepted", "retried", "delivered"]);
  expect(gaps).toMatchObject([{ reason: "unknown", after: events[0]?.number, untilMs: events[1]?.atMs }]);
});

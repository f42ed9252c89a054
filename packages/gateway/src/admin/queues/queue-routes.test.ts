import type { MoveTask, QueueDefinition, QueueSettingsChange } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import {
  DEAD,
  directoryOf,
  OPEN,
  ORDERS,
  queueWith,
  recordOf,
  subscriptionOf,
  TOPIC,
} from "../../../test/directory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";
import { LISTED_AT_ONCE } from "../in-parallel.ts";

const API = "http://localhost:8787/__sluice/api";
const FIFO: QueueDefinition = { ...DEAD, fifo: {} };
const MOVE: MoveTask = {
  taskId: "task",
  target: null,
  ratePerSecond: null,
  status: "running",
  failure: null,
  startedMs: 1_700_000_000_000,
  moved: 2,
  toMove: 5,
};
const MOVE_VIEW = {
  status: "running",
  to: null,
  moved: 2,
  toMove: 5,
  stayed: 0,
  failure: null,
  startedAt: "2023-11-14T22:13:20.000Z",
};

type Able = Parameters<typeof queueWith>[0];

/** Sends a request to the admin API, and returns its answer. */
async function ask(directory: QueueDirectory, path: string, init: RequestInit = {}) {
  const response = await createGateway(directory, OPEN).request(`${API}${path}`, init);
  return { status: response.status, body: await response.json() };
}

function post(directory: QueueDirectory, path: string, body?: string) {
  return ask(directory, path, { method: "POST", ...(body === undefined ? {} : { body }) });
}

function withQueue(able: Able, directory: QueueDirectory = directoryOf()): QueueDirectory {
  return { ...directory, queue: () => queueWith(able) };
}

it.each(["/queues", "/alerts"])("%s asks few queues at a time, and all of them", async (path) => {
  const names = Array.from({ length: 3 * LISTED_AT_ONCE }, (_, i) => `q${i}`);
  const of = directoryOf(Object.fromEntries(names.map((name) => [name, ORDERS])));
  const asked: string[] = [];
  let [open, openMax] = [0, 0];
  const describe = async (name: string) => {
    asked.push(name);
    open += 1;
    openMax = Math.max(open, openMax);
    await new Promise((resolve) => setTimeout(resolve));
    open -= 1;
    return of.describe(name);
  };
  expect((await ask({ ...of, describe }, path)).status).toBe(200);
  expect(asked).toEqual(expect.arrayContaining(names));
  expect(openMax).toBe(LISTED_AT_ONCE);
});

it("a queue is shown with the topics that send to it, and whose dead letters it takes", async () => {
  const toQueue = subscriptionOf({ deadLetterQueue: "dead" });
  const redriven: QueueDefinition = {
    ...DEAD,
    maxReceivesPerSecond: 3,
    receive: {
      redrive: { deadLetterQueue: "dead", maxReceiveCount: 2 },
      visibilityTimeoutMs: 60_000,
      waitMs: 20_000,
    },
  };
  const topics = [{ topic: TOPIC, subscriptions: [toQueue] }];
  const directory = directoryOf(
    { orders: ORDERS, dead: DEAD, redriven },
    { lastMove: MOVE, finishedMax: 7 },
    topics,
  );
  expect(await ask(directory, "/queues/orders")).toMatchObject({
    body: { topics: [TOPIC.arn], lastMove: MOVE_VIEW, settings: { finishedMessages: 7 } },
  });
  expect(await ask(directory, "/queues/redriven")).toMatchObject({
    body: {
      redrive: { deadLetterQueue: "dead", maxReceiveCount: 2 },
      settings: { maxReceivesPerSecond: 3, visibilityTimeoutSeconds: 60, receiveWaitSeconds: 20 },
      topics: [],
    },
  });
  expect(await ask(directory, "/queues/dead")).toMatchObject({
    body: { deadLettersOf: { queues: ["orders", "redriven"], subscriptions: [toQueue.arn] } },
  });
});

it("a queue has the R2 buckets whose writes it is notified of, where writes are seen", async () => {
  const directory = directoryOf({ orders: ORDERS, dead: DEAD });
  const rule = { actions: ["PutObject"], prefix: "", suffix: "" } as const;
  await directory.r2.addR2Rules("uploads", recordOf("orders", ORDERS).queueId, [rule]);
  expect(await ask(directory, "/queues/orders")).toMatchObject({ body: { buckets: ["uploads"] } });
  expect(await ask(directory, "/queues/dead")).toMatchObject({ body: { buckets: [] } });
  expect(await ask({ ...directory, watchR2: null }, "/queues/orders")).toMatchObject({
    body: { buckets: [] },
  });
});

describe("POST /queues/NAME/pause and /resume", () => {
  it.each([
    ["pause", true],
    ["resume", false],
  ])("%s sets whether delivery is paused, and answers the queue", async (action, deliveryPaused) => {
    const changes: [string, QueueSettingsChange | undefined][] = [];
    const directory = directoryOf();
    const account: QueueDirectory["account"] = {
      ...directory.account,
      changeQueue: async (id, { settings }) => {
        changes.push([id, settings]);
        return { ok: true, record: recordOf("orders", ORDERS) };
      },
    };
    const { status, body } = await post({ ...directory, account }, `/queues/orders/${action}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: "orders" });
    expect(changes).toEqual([[recordOf("orders", ORDERS).queueId, { deliveryPaused }]]);
  });

  it("answers 404 when the queue is deleted meanwhile", async () => {
    expect(await post(directoryOf(), "/queues/orders/pause")).toMatchObject({
      status: 404,
      body: { error: { code: "queue_not_found" } },
    });
  });
});

it("POST /queues/NAME/purge answers how many messages were deleted, and notes when", async () => {
  const notes: (number | null)[] = [];
  const directory = withQueue({ purge: async () => ({ purged: 12 }) });
  const notePurge: QueueDirectory["account"]["notePurge"] = async (_id, { completedMs }) => {
    notes.push(completedMs);
  };
  const account = { ...directory.account, notePurge };
  expect(await post({ ...directory, account }, "/queues/orders/purge")).toEqual({
    status: 200,
    body: { purged: 12 },
  });
  expect(notes).toEqual([null, expect.any(Number)]);
});

describe("POST /queues/NAME/redrive", () => {
  const startMove = () => vi.fn(async () => ({ ok: true, task: MOVE }) as const);

  it.each([
    ["", null],
    ["{}", null],
    ['{"to": null}', null],
    ['{"to": "orders"}', "orders"],
  ])("%s starts a move", async (body, target) => {
    const start = startMove();
    expect(await post(withQueue({ startMove: start }), "/queues/dead/redrive", body)).toEqual({
      status: 200,
      body: { move: MOVE_VIEW },
    });
    expect(start).toHaveBeenCalledExactlyOnceWith("dead", {
      taskId: expect.any(String),
      target,
      ratePerSecond: null,
      ...(target === null ? { fallback: "orders" } : {}),
    });
  });

  it.each([
    ['{"filter": "lamp"}', { filter: [{ field: "body", text: "lamp" }] }],
    ['{"ids": ["a", "b"]}', { only: ["a", "b"] }],
    ['{"limit": 3, "filter": ""}', { filter: [], limit: 3 }],
  ])("%s starts a move of what it selects", async (body, selection) => {
    const start = startMove();
    expect((await post(withQueue({ startMove: start }), "/queues/dead/redrive", body)).status).toBe(200);
    expect(start).toHaveBeenCalledExactlyOnceWith("dead", {
      taskId: expect.any(String),
      target: null,
      ratePerSecond: null,
      fallback: "orders",
      selection,
    });
  });

  it.each([
    ['{"dryRun": true}', { filter: [{ field: "state", state: "ready" }], max: 20 }, 7, "1-2-3"],
    [
      '{"dryRun": true, "filter": "lamp"}',
      { filter: [{ field: "body", text: "lamp" }], max: 20 },
      7,
      "1-2-3",
    ],
    ['{"dryRun": true, "ids": ["a"]}', { filter: [], only: ["a"], max: 20 }, 7, "1-2-3"],
    ['{"dryRun": true, "limit": 3}', { filter: [], max: 3 }, 3, null],
    [
      '{"dryRun": true, "limit": 30, "cursor": "4-5-6"}',
      { filter: [], max: 20, cursor: "4-5-6" },
      7,
      "23.1-2-3",
    ],
    [
      '{"dryRun": true, "limit": 30, "cursor": "9.4-5-6"}',
      { filter: [], max: 9, cursor: "4-5-6" },
      7,
      "2.1-2-3",
    ],
  ])("%s moves nothing and tells what would move", async (body, request, count, cursor) => {
    const look = vi.fn(async () => ({ messages: [], matched: 7, cursor: "1-2-3", searched: 8, of: 9 }));
    expect(await post(withQueue({ look }), "/queues/dead/redrive", body)).toEqual({
      status: 200,
      body: { dryRun: true, count, messages: [], cursor, searched: 8, of: 9 },
    });
    const common = { isWaiting: true, countsAll: true };
    expect(look).toHaveBeenCalledExactlyOnceWith("dead", { ...common, ...request });
  });

  const withTopic = [{ topic: TOPIC, subscriptions: [subscriptionOf({ deadLetterQueue: "dead" })] }];
  it.each([
    ["several queues", directoryOf({ orders: ORDERS, more: ORDERS, dead: DEAD })],
    ["a queue and a topic", directoryOf({ orders: ORDERS, dead: DEAD }, {}, withTopic)],
  ])(
    "leaves it to each message where it came from when it takes dead letters of %s",
    async (_what, directory) => {
      const start = startMove();
      expect((await post(withQueue({ startMove: start }, directory), "/queues/dead/redrive")).status).toBe(
        200,
      );
      expect(start).toHaveBeenCalledExactlyOnceWith("dead", {
        taskId: expect.any(String),
        target: null,
        ratePerSecond: null,
      });
    },
  );

  const onlyTopics = () =>
    directoryOf({ dead: DEAD, orders: DEAD }, {}, [
      { topic: TOPIC, subscriptions: [subscriptionOf({ deadLetterQueue: "dead" })] },
    ]);

  it.each<[string, QueueDirectory, string, string, number, string]>([
    ["a body that is no JSON", directoryOf(), "dead", "{", 400, "invalid_body"],
    ["a target that is no name", directoryOf(), "dead", '{"to": 3}', 400, "invalid_body"],
    ["a word that it does not know", directoryOf(), "dead", '{"too": "orders"}', 400, "invalid_body"],
    ["a limit of none", directoryOf(), "dead", '{"limit": 0}', 400, "invalid_body"],
    ["too many ids", directoryOf(), "dead", `{"ids": ["${'", "'.repeat(1_000)}"]}`, 400, "invalid_body"],
    [
      "a filter of finished messages",
      directoryOf(),
      "dead",
      '{"filter": "lamp state:finished"}',
      400,
      "finished",
    ],
    ["a filter that cannot be read", directoryOf(), "dead", '{"filter": "state:x"}', 400, "invalid_filter"],
    [
      "a cursor that is none",
      directoryOf(),
      "dead",
      '{"dryRun": true, "cursor": "x"}',
      400,
      "invalid_cursor",
    ],
    ["a queue that does not exist", directoryOf(), "nothing", "", 404, "queue_not_found"],
    ["a target that does not exist", directoryOf(), "dead", '{"to": "nothing"}', 404, "queue_not_found"],
    ["itself as the target", directoryOf(), "dead", '{"to": "dead"}', 400, "same_queue"],
    ["a queue that takes no dead letters", directoryOf(), "orders", "", 409, "no_dead_letter_queue"],
    [
      "a target of the other kind",
      directoryOf({ orders: ORDERS, dead: DEAD, line: FIFO }),
      "dead",
      '{"to": "line"}',
      400,
      "other_kind",
    ],
    ["dead letters of topics alone without a target", onlyTopics(), "dead", "", 400, "target_required"],
  ])("refuses %s", async (_what, directory, name, body, status, code) => {
    expect(await post(directory, `/queues/${name}/redrive`, body)).toMatchObject({
      status,
      body: { error: { code } },
    });
  });

  it("moves dead letters of topics to a queue that is named", async () => {
    const start = startMove();
    const directory = withQueue({ startMove: start }, onlyTopics());
    expect((await post(directory, "/queues/dead/redrive", '{"to": "orders"}')).status).toBe(200);
    expect(start).toHaveBeenCalledOnce();
  });

  it("refuses a second move while one is under way", async () => {
    const directory = withQueue({ startMove: async () => ({ ok: false, reason: "active" }) });
    expect(await post(directory, "/queues/dead/redrive")).toMatchObject({
      status: 409,
      body: { error: { code: "move_active" } },
    });
  });
});

describe("POST /queues/NAME/redrive/cancel", () => {
  it("ends the move that is under way", async () => {
    const cancelMove = vi.fn(async () => ({ ok: true, task: { ...MOVE, status: "cancelled" } }) as const);
    const directory = withQueue({ cancelMove, listMoves: async () => [MOVE] });
    expect(await post(directory, "/queues/dead/redrive/cancel")).toEqual({
      status: 200,
      body: { move: { ...MOVE_VIEW, status: "cancelled" } },
    });
    expect(cancelMove).toHaveBeenCalledExactlyOnceWith("dead", "task");
  });

  it.each<[string, readonly MoveTask[]]>([
    ["there was none", []],
    ["it has ended", [{ ...MOVE, status: "completed" }]],
    ["it ends at that moment", [MOVE]],
  ])("answers 409 when %s", async (_what, moves) => {
    const cancelMove = async () => ({ ok: false, reason: "notActive" }) as const;
    const directory = withQueue({ cancelMove, listMoves: async () => moves });
    expect(await post(directory, "/queues/dead/redrive/cancel")).toMatchObject({
      status: 409,
      body: { error: { code: "no_move" } },
    });
  });
});

describe("what changes something", () => {
  it.each(["pause", "resume", "purge", "redrive", "redrive/cancel", "drain"])(
    "%s is refused to a page of another origin, and is 404 for a queue that does not exist",
    async (action) => {
      const gateway = createGateway(directoryOf(), OPEN);
      const headers = { origin: "https://evil.example" };
      const url = (name: string) => `${API}/queues/${name}/${action}`;
      expect((await gateway.request(url("dead"), { method: "POST", headers })).status).toBe(403);
      expect((await gateway.request(url("nothing"), { method: "POST" })).status).toBe(404);
    },
  );
});

it("the shards of a queue are shown one by one, also one that does not answer", async () => {
  const directory = directoryOf({ orders: { ...ORDERS, shards: 2 } });
  const description = { ...(await directory.describe("orders")), rates: { in: 3, out: 2, dead: 0 } };
  const sharded: QueueDirectory = {
    ...directory,
    describeShards: async () => [
      { shard: 0, isOpen: true, keepsGroups: true, found: { description } },
      { shard: 1, isOpen: true, keepsGroups: false, found: { failure: "Error: away" } },
      { shard: 2, isOpen: false, keepsGroups: false, found: { description } },
    ],
  };
  const figures = {
    failure: null,
    messages: { ready: 1, delayed: 2, leased: 3 },
    backlogBytes: 4,
    oldestMessageAt: "2023-11-14T22:13:20.000Z",
    rates: { in: 3, out: 2, dead: 0 },
    now: expect.any(String),
  };
  const unknown = { messages: null, backlogBytes: null, oldestMessageAt: null, rates: null, now: null };
  expect(await ask(sharded, "/queues/orders/shards")).toEqual({
    status: 200,
    body: {
      wanted: 2,
      shards: [
        { shard: 0, state: "open", keepsGroups: true, ...figures },
        { shard: 1, state: "open", keepsGroups: false, ...unknown, failure: "Error: away" },
        { shard: 2, state: "draining", keepsGroups: false, ...figures },
      ],
    },
  });
  expect((await ask(sharded, "/queues/orders")).body).toMatchObject({ settings: { shards: 2 } });
  expect(await ask(sharded, "/queues/none/shards")).toMatchObject({ status: 404 });
});

describe("a change of the number of shards", () => {
  const put = (directory: QueueDirectory, body: string, queue = "orders") =>
    ask(directory, `/queues/${queue}/shards`, { method: "PUT", body });
  const withReply = (changeQueue: QueueDirectory["account"]["changeQueue"]): QueueDirectory => {
    const directory = directoryOf();
    return { ...directory, account: { ...directory.account, changeQueue } };
  };

  it.each([1, 100])("to %i changes that setting alone, and answers the queue", async (shards) => {
    const changes: unknown[] = [];
    const directory = withReply(async (_, change) => {
      changes.push(change);
      return { ok: true, record: recordOf("orders", ORDERS) };
    });
    expect(await put(directory, JSON.stringify({ shards }))).toMatchObject({
      status: 200,
      body: { name: "orders" },
    });
    expect(changes).toEqual([{ settings: { shards } }]);
  });

  it.each([
    '{"shards":0}',
    '{"shards":101}',
    '{"shards":1.5}',
    '{"shards":"2"}',
    "{}",
    "",
    '{"shards":2,"a":1}',
  ])("by %j is refused", async (body) => {
    const directory = withReply(() => Promise.reject(new Error("it is changed")));
    expect(await put(directory, body)).toMatchObject({
      status: 400,
      body: {
        error: {
          code: "invalid_body",
          message: 'A queue has 1 to 100 shards: the body must be {"shards": N}.',
        },
      },
    });
  });

  it.each([
    ["deduplicationScope", "needs the deduplication scope messageGroup"],
    ["workerDaemon", "can have only one shard"],
  ] as const)("is refused to a queue that cannot: %s", async (reason, message) => {
    const directory = withReply(async () => ({ ok: false, refusal: { kind: "shardsRefused", reason } }));
    expect(await put(directory, '{"shards":2}')).toMatchObject({
      status: 409,
      body: { error: { code: "shards_refused", message: expect.stringContaining(message) } },
    });
  });

  it("is 404 for a queue that does not exist", async () => {
    expect(await put(directoryOf(), '{"shards":2}', "none")).toMatchObject({ status: 404 });
  });
});

it("a queue without shards is one object", async () => {
  const { body } = await ask(directoryOf(), "/queues/orders/shards");
  expect(body).toMatchObject({ wanted: 1, shards: [{ shard: 0, state: "open" }] });
  expect((await ask(directoryOf(), "/queues/orders")).body).toMatchObject({ settings: { shards: 1 } });
});

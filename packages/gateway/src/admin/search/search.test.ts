import type { LookReply, LookRequest, QueueDefinition, StoryReply } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import {
  type AbleQueue,
  DEAD,
  directoryOf,
  eventOf,
  lookedAt,
  OPEN,
  ORDERS,
  queueWith,
  TOPIC,
} from "../../../test/directory.ts";
import { CREATED_MS } from "../../../test/in-memory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";
import { allRights, type Rights } from "../../rights/rights.ts";
import { QUEUE_MS_MAX, SEARCH_MS_MAX, SEARCHED_AT_ONCE, searchAll } from "./search.ts";
import { COUNTED_MAX, GONE_MAX, SHOWN_MAX } from "./search-queue.ts";

const EVERY = allRights("admin");
const ONLY_ORDERS: Rights = { by: "reader", scopes: ["read"], queues: ["orders"] };

const idOf = (i: number) => `1a2b3c4d${i.toString(16)}`.padEnd(32, "0");
const replyOf = (count: number, changes: Partial<LookReply> = {}): LookReply => ({
  messages: Array.from({ length: Math.min(count, SHOWN_MAX) }, (_, i) => lookedAt({ id: idOf(i) })),
  matched: count,
  cursor: null,
  searched: 10,
  of: 10,
  ...changes,
});

interface Able extends Pick<AbleQueue, "look" | "idsNamed" | "story"> {}

/** A broker whose queues of these names answer so. */
function broker(queues: Record<string, Able>, more: Partial<QueueDirectory> = {}): QueueDirectory {
  const definitions: Record<string, QueueDefinition> = {};
  for (const name of Object.keys(queues)) definitions[name] = name === "orders" ? ORDERS : DEAD;
  const none: Able = { look: async () => replyOf(0), idsNamed: async () => [] };
  const queue = (name: string) => queueWith({ ...none, ...queues[name] });
  const topics = [{ topic: TOPIC, subscriptions: [] }];
  return { ...directoryOf(definitions, {}, topics), queue, ...more };
}

describe("a search over all queues", () => {
  it("finds messages by queue, with their number, and names of queues and topics", async () => {
    const look = vi.fn(async (_queue: string, _request: LookRequest) => replyOf(7));
    const directory = broker({ news: {}, orders: { look }, other: {} });
    const found = await searchAll(directory, EVERY, "NEWS", () => 0);
    expect(found).toMatchObject({ queues: ["news"], topics: [TOPIC.arn], gone: [], unfinished: [] });
    expect(found.messages).toMatchObject([{ queue: "orders", filter: "NEWS", count: 7, isWhole: true }]);
    expect(found.messages[0]?.messages).toHaveLength(SHOWN_MAX);
    const filter = [{ field: "body", text: "NEWS" }];
    expect(look.mock.calls).toEqual([["orders", { max: SHOWN_MAX, filter, countsAll: true }]]);
  });

  it("of names alone asks no queue", async () => {
    const directory = broker({ news: {}, orders: { look: () => Promise.reject(new Error("asked")) } });
    const found = await searchAll(directory, EVERY, "news", () => 0, true);
    const nothing = { messages: [], gone: [], unfinished: [] };
    expect(found).toEqual({ queues: ["news"], topics: [TOPIC.arn], ...nothing });
  });

  it("goes on where a look has ended, and shows no more than it may", async () => {
    const look = vi.fn(async (_queue: string, { cursor }: LookRequest) =>
      cursor === undefined ? replyOf(3, { cursor: "1-1-5" }) : replyOf(2),
    );
    const found = await searchAll(broker({ orders: { look } }), EVERY, "lamp", () => 0);
    expect(found.messages).toMatchObject([{ count: 5, isWhole: true }]);
    expect(look.mock.calls[1]).toMatchObject(["orders", { max: SHOWN_MAX - 3, cursor: "1-1-5" }]);
  });

  it("finds for a token for some queues only what is in these, and no topic", async () => {
    const look = async () => replyOf(1, { messages: [lookedAt({ from: "news" })] });
    const directory = broker({ news: { look }, orders: { look } });
    const found = await searchAll(directory, ONLY_ORDERS, "e", () => 0);
    expect(found).toMatchObject({ queues: ["orders"], topics: [] });
    expect(found.messages).toMatchObject([{ queue: "orders", messages: [{ from: "(another queue)" }] }]);
    expect(JSON.stringify(found)).not.toContain("news");
  });

  it("takes an id, or its first digits, for an id and for a text, and finds those that are gone", async () => {
    const story = async (_queue: string, id: string): Promise<StoryReply> => ({
      events: [eventOf({ ids: [id] }), eventOf({ kind: "deadLettered", to: "dead", atMs: CREATED_MS + 1 })],
      gaps: [],
      before: null,
      after: null,
    });
    const byId = (filter: LookRequest["filter"]) => filter?.[0]?.field === "id";
    const look = async (_queue: string, { filter }: LookRequest) => replyOf(byId(filter) ? 1 : 2);
    const named = Array.from({ length: GONE_MAX + 2 }, (_, i) => idOf(i));
    const directory = broker({ orders: { look, story, idsNamed: async () => named }, other: {} });
    for (const text of ["1a2b", "1a2b3", "1a2b3c4d", "1A2B-3C4D"]) {
      const found = await searchAll(directory, EVERY, text, () => 0);
      expect(found.messages).toMatchObject([
        { filter: `id:${text.replace("-", "").toLowerCase()}`, count: 1 },
        { filter: text, count: 2 },
      ]);
      // The second one is found as a text.
      expect(found.gone.map(({ id }) => id)).toEqual(named.slice(2));
    }
    const { messages, gone } = await searchAll(directory, ONLY_ORDERS, "id:1a2b3c4d", () => 0);
    expect(messages).toMatchObject([{ filter: "id:1a2b3c4d" }]);
    expect(gone).toHaveLength(GONE_MAX);
    const last = { kind: "deadLettered", at: new Date(CREATED_MS + 1).toISOString(), to: "(another queue)" };
    expect(gone[0]).toMatchObject({ queue: "orders", id: idOf(1), last });
    const short = await searchAll(directory, EVERY, "1a2", () => 0);
    expect(short).toMatchObject({ messages: [{ filter: "1a2", count: 2 }], gone: [] });
  });

  it("finds a message that is gone once, where it was last, and not where it is elsewhere", async () => {
    const goneAt = (atMs: number): Able => ({
      story: async (_queue: string, id: string): Promise<StoryReply> => ({
        events: [eventOf({ ids: [id], atMs })],
        gaps: [],
        before: null,
        after: null,
      }),
      idsNamed: async () => [idOf(0), idOf(1)],
    });
    const look = async (_queue: string, { filter }: LookRequest) =>
      filter?.[0]?.field === "id" ? replyOf(1) : replyOf(0);
    const times = { early: goneAt(CREATED_MS), late: goneAt(CREATED_MS + 2), middle: goneAt(CREATED_MS + 1) };
    const { gone } = await searchAll(broker(times), EVERY, "1a2b3c4d", () => 0);
    expect(gone.map(({ queue, id }) => [queue, id])).toEqual([
      ["late", idOf(0)],
      ["late", idOf(1)],
    ]);
    const { gone: others } = await searchAll(
      broker({ ...times, orders: { look } }),
      EVERY,
      "1a2b3c4d",
      () => 0,
    );
    expect(others.map(({ queue, id }) => [queue, id])).toEqual([["late", idOf(1)]]);
  });

  it("finds finished ones by a field or a text too, where any are kept and no state is named", async () => {
    const end = { kind: "acked", atMs: CREATED_MS, by: null, error: null } as const;
    const finished = lookedAt({ id: idOf(0), state: "finished", end });
    const isAsked = ({ filter }: LookRequest) => filter?.some(({ field }) => field === "state") === true;
    const look = vi.fn(async (_queue: string, request: LookRequest) => ({
      ...(isAsked(request) ? replyOf(3, { messages: [finished] }) : replyOf(0)),
      finished: 3,
    }));
    const none = vi.fn(async (_queue: string, _request: LookRequest) => replyOf(0));
    const directory = broker({ orders: { look }, other: { look: none } });
    const { messages } = await searchAll(directory, EVERY, "orderId:4002", () => 0);
    expect(messages).toMatchObject([
      { queue: "orders", filter: "orderId:4002 state:finished", messages: [{ state: "finished" }], count: 3 },
    ]);
    expect(none).toHaveBeenCalledOnce();
    look.mockClear();
    await searchAll(directory, EVERY, "orderId:4002 state:ready", () => 0);
    expect(look).toHaveBeenCalledOnce();
  });

  it("looks for a whole id as one, and no further than to it", async () => {
    const look = vi.fn(async (_queue: string, { only }: LookRequest) =>
      only === undefined ? replyOf(0) : replyOf(1, { cursor: "1-1-9" }),
    );
    const directory = broker({ orders: { look } });
    const found = await searchAll(directory, EVERY, idOf(0), () => 0);
    expect(found.messages).toMatchObject([{ filter: `id:${idOf(0)}`, count: 1, isWhole: true }]);
    expect(look.mock.calls.map(([, { only }]) => only)).toEqual([[idOf(0)], undefined]);
  });

  it("looks for a whole id in the bodies' own field too where it is written as one", async () => {
    const isOfBody = ({ filter }: LookRequest) => filter?.[0]?.field === "json";
    const look = vi.fn(async (_queue: string, request: LookRequest) => replyOf(isOfBody(request) ? 1 : 0));
    const { messages } = await searchAll(broker({ orders: { look } }), EVERY, `id:${idOf(0)}`, () => 0);
    expect(messages).toMatchObject([{ filter: `body.id:${idOf(0)}`, count: 1 }]);
    expect(look.mock.calls.map(([, { only }]) => only)).toEqual([[idOf(0)], undefined]);
  });

  it("finds a finished one by its id as a message, not as one that is gone, where any are kept", async () => {
    const end = { kind: "acked", atMs: CREATED_MS, by: null, error: null } as const;
    const finished = lookedAt({ id: idOf(0), state: "finished", end });
    const isAsked = (filter: LookRequest["filter"]) =>
      filter?.[0]?.field === "id" && filter[1]?.field === "state";
    // As a broker does it: a whole id finds a finished message too.
    const look = async (_queue: string, { filter, only }: LookRequest) => ({
      ...(isAsked(filter) || only !== undefined ? replyOf(1, { messages: [finished] }) : replyOf(0)),
      finished: 1,
    });
    const none = vi.fn(async (_queue: string, _request: LookRequest) => replyOf(0));
    const directory = broker({ orders: { look, idsNamed: async () => [idOf(0)] }, other: { look: none } });
    for (const text of ["1a2b3c4d", "id:1a2b3c4d", idOf(0), `id:${idOf(0)}`]) {
      none.mockClear();
      const { messages, gone } = await searchAll(directory, EVERY, text, () => 0);
      const [filter, states] = [`id:${text.replace("id:", "")} state:finished`, [{ state: "finished" }]];
      expect(messages).toMatchObject([{ queue: "orders", filter, messages: states, count: 1 }]);
      expect(gone).toEqual([]);
      expect(none.mock.calls.some(([, request]) => isAsked(request.filter))).toBe(false);
    }
  });

  it.each([
    [COUNTED_MAX - 1, 2],
    [COUNTED_MAX, 1],
    [COUNTED_MAX + 1, 1],
  ])("counts on behind %i messages of a queue in %i calls", async (count, calls) => {
    const look = vi.fn(async (_queue: string, { cursor }: LookRequest) =>
      cursor === undefined ? replyOf(count, { cursor: "1-1-9" }) : replyOf(1),
    );
    const found = await searchAll(broker({ orders: { look } }), EVERY, "lamp", () => 0);
    expect(look).toHaveBeenCalledTimes(calls);
    expect(found.messages).toMatchObject([{ count: calls === 2 ? count + 1 : count, isWhole: calls === 2 }]);
    expect(found.unfinished).toEqual([]);
  });

  it("ends with a queue after its time, with all after theirs, and names those that it has not searched", async () => {
    let ms = 0;
    const look = vi.fn(async () => {
      ms += QUEUE_MS_MAX / 2;
      return replyOf(0, { cursor: "1-1-4", searched: 4 });
    });
    const queues = Object.fromEntries(
      Array.from({ length: SEARCHED_AT_ONCE + 2 }, (_, i) => [`q${i + 10}`, { look }]),
    );
    const { unfinished } = await searchAll(broker({ orders: { look } }), EVERY, "lamp", () => ms);
    expect(unfinished).toEqual([{ queue: "orders", searched: 4, of: 10 }]);
    expect(look).toHaveBeenCalledTimes(2);
    ms = 0;
    look.mockImplementation(async () => {
      await Promise.resolve();
      ms = SEARCH_MS_MAX;
      return replyOf(0, { cursor: "1-1-4", searched: 4 });
    });
    const all = await searchAll(broker(queues), EVERY, "lamp", () => ms);
    expect(all.unfinished.map(({ of }) => of)).toEqual([...Array(SEARCHED_AT_ONCE).fill(10), null, null]);
  });

  it(`searches ${SEARCHED_AT_ONCE} queues at the same time, and all of them though one fails`, async () => {
    let running = 0;
    let most = 0;
    const look = async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return replyOf(1);
    };
    const failing = async () => Promise.reject(new Error("broken"));
    const names = Array.from({ length: 2 * SEARCHED_AT_ONCE }, (_, i) => `q${i + 10}`);
    const log = vi.spyOn(console, "error").mockReturnValue();
    const queues = Object.fromEntries(names.map((name) => [name, { look }]));
    const found = await searchAll(broker({ ...queues, broken: { look: failing } }), EVERY, "lamp", () => 0);
    expect(most).toBe(SEARCHED_AT_ONCE);
    expect(found.messages.map(({ queue }) => queue)).toEqual(names);
    expect(found.unfinished).toEqual([{ queue: "broken", searched: 0, of: null }]);
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });
});

it.each([
  ["", "invalid_query"],
  ["?q=%20", "invalid_query"],
  ["?q=stat:ready", "invalid_filter"],
  ["?q=lamp&in=bodies", "invalid_query"],
])("GET /search%s is refused", async (query, code) => {
  const gateway = createGateway(broker({ orders: {} }), OPEN);
  const response = await gateway.request(`http://localhost:8787/__sluice/api/search${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code } });
});

import {
  encodeTrace,
  type FiguresRequest,
  type HistoryRequest,
  type MessagePast,
  type StoryReply,
} from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import {
  DEAD,
  directoryOf,
  eventOf,
  FIGURES_REPLY,
  OPEN,
  ORDERS,
  queueWith,
} from "../../../test/directory.ts";
import { CREATED_MS } from "../../../test/in-memory.ts";
import { createGateway, type QueueDirectory } from "../../index.ts";
import type { StoryView } from "./story.ts";

const API = "http://localhost:8787/__sluice/api";
const [ID, NEW_ID] = ["a".repeat(32), "b".repeat(32)];

const NOTHING: StoryReply = { events: [], gaps: [], before: null, after: null };

/** A broker whose queues tell these stories, by queue and id. */
function withStories(stories: Record<string, Partial<StoryReply>>): QueueDirectory {
  const story = async (queue: string, id: string) => ({ ...NOTHING, ...stories[`${queue} ${id}`] });
  const look = async () => ({ messages: [], matched: 0, cursor: null, searched: 0, of: 0 });
  return { ...directoryOf({ orders: ORDERS, dead: DEAD }), queue: () => queueWith({ story, look }) };
}

/** Answer of either route. */
type StoryBody = StoryView & { readonly isOn: boolean; readonly cursor: string | null };

async function ask(directory: QueueDirectory, path: string) {
  const response = await createGateway(directory, OPEN).request(`${API}${path}`);
  return { status: response.status, body: (await response.json()) as StoryBody };
}

describe("GET /queues/NAME/history", () => {
  const withHistory = (next: number | null = null) => {
    const history = vi.fn(async (_queue: string, _request: HistoryRequest) => ({
      isOn: true,
      next,
      events: [
        eventOf({ merged: { untilMs: CREATED_MS + 500, events: 3, tookMs: null } }),
        eventOf({ past: { queue: "x", id: ID, sentMs: 0, by: null, ends: [] } }),
      ],
    }));
    return { history, directory: { ...directoryOf(), queue: () => queueWith({ history }) } };
  };

  it("answers 100 events with ISO times, and how to go on", async () => {
    const { history, directory } = withHistory(7);
    const { body } = await ask(directory, "/queues/orders/history");
    expect(body).toMatchObject({ isOn: true, cursor: "7" });
    expect(body.events[0]).toMatchObject({
      at: "2023-11-14T22:13:20.000Z",
      merged: { until: "2023-11-14T22:13:20.500Z", events: 3, tookMs: null },
    });
    expect(body.events[1]).not.toHaveProperty("past");
    expect(body.events[1]).not.toHaveProperty("atMs");
    expect(history).toHaveBeenCalledWith("orders", { max: 100 });
  });

  it("gives printed lines the times at which they were printed", async () => {
    const lines = [{ afterMs: 250, level: "error", text: "no stock" }] as const;
    const printed = (more: object) =>
      eventOf({ kind: "printed", logs: { beganMs: CREATED_MS, lines, ...more } });
    const history = async () => ({
      isOn: true,
      next: null,
      events: [printed({}), printed({ leftOut: 3, mixed: 2, ofWorker: true })],
    });
    const directory = { ...directoryOf(), queue: () => queueWith({ history }) };
    const { body } = await ask(directory, "/queues/orders/history");
    const shown = [{ at: "2023-11-14T22:13:20.250Z", level: "error", text: "no stock" }];
    expect(body.events.map(({ logs }) => logs)).toEqual([
      { lines: shown, leftOut: 0, mixed: 0, ofWorker: false },
      { lines: shown, leftOut: 3, mixed: 2, ofWorker: true },
    ]);
  });

  it("goes on at a cursor, with the kinds that are asked for", async () => {
    const { history, directory } = withHistory();
    const { body } = await ask(
      directory,
      "/queues/orders/history?cursor=7&max=500&kind=failed,acked&kind=dropped",
    );
    expect(body.cursor).toBeNull();
    const kinds = ["failed", "acked", "dropped"];
    expect(history).toHaveBeenCalledWith("orders", { max: 500, before: 7, kinds });
  });

  it.each([
    [String(Number.MAX_SAFE_INTEGER), { before: Number.MAX_SAFE_INTEGER }],
    ["4294967296000001_b", { cursor: "4294967296000001_b" }],
    ["e0_4294967296000001", { cursor: "e0_4294967296000001" }],
  ])("takes the cursor %s of a queue whose object has started often", async (cursor, asked) => {
    const { history, directory } = withHistory();
    expect(await ask(directory, `/queues/orders/history?cursor=${cursor}`)).toMatchObject({ status: 200 });
    expect(history).toHaveBeenCalledWith("orders", { max: 100, ...asked });
  });

  it.each([
    ["/queues/orders/history?cursor=9007199254740992", 400, "invalid_query"],
    ["/queues/orders/history?max=501", 400, "invalid_query"],
    ["/queues/orders/history?cursor=x", 400, "invalid_query"],
    ["/queues/orders/history?kind=eaten", 400, "invalid_query"],
    ["/queues/none/history", 404, "queue_not_found"],
    [`/queues/none/messages/${ID}/story`, 404, "queue_not_found"],
    ["/queues/orders/messages/xyz/story", 400, "invalid_id"],
  ])("%s is refused with %i", async (path, status, code) => {
    expect(await ask(withHistory().directory, path)).toMatchObject({ status, body: { error: { code } } });
  });
});

describe("GET /queues/NAME/figures", () => {
  const figures = vi.fn(async (_queue: string, _request: FiguresRequest) => FIGURES_REPLY);
  const directory = { ...directoryOf(), queue: () => queueWith({ figures }) };

  it.each([
    ["", "1h"],
    ["?window=5m", "5m"],
    ["?window=24h", "24h"],
  ])("answers with the window of %j", async (query, window) => {
    const { status, body } = await ask(directory, `/queues/orders/figures${query}`);
    expect(status).toBe(200);
    expect(figures).toHaveBeenLastCalledWith("orders", { window });
    const { nowMs: _, sinceMs: __, ...same } = FIGURES_REPLY;
    expect(body).toEqual({
      ...same,
      now: "2023-11-14T22:13:20.000Z",
      since: "2023-11-14T22:13:18.500Z",
      counts: { accepted: [1.667, 2] },
      marks: [{ kind: "clockMoved", at: "2023-11-14T22:13:20.000Z", byMs: 60_000 }],
    });
  });

  it.each([
    ["/queues/orders/figures?window=2h", 400, "invalid_query"],
    ["/queues/orders/figures?window=toString", 400, "invalid_query"],
    ["/queues/none/figures", 404, "queue_not_found"],
  ])("%s is refused with %i", async (path, status, code) => {
    expect(await ask(directory, path)).toMatchObject({ status, body: { error: { code } } });
  });
});

describe("GET /queues/NAME/messages/ID/story", () => {
  const past: MessagePast = {
    queue: "orders",
    id: ID,
    sentMs: CREATED_MS,
    by: "shop",
    ends: [
      {
        queue: "orders",
        id: ID,
        kind: "deadLettered",
        atMs: CREATED_MS + 5,
        attempts: 3,
        error: "Error: no",
      },
      { queue: "dead", id: ID, kind: "redriven", atMs: CREATED_MS + 9, attempts: 0, error: null },
    ],
  };
  const accepted = eventOf({ kind: "accepted", by: "shop" });
  const given = eventOf({ number: 4, kind: "deadLettered", atMs: CREATED_MS + 5, to: "dead" });
  const arrived = eventOf({ kind: "arrived", atMs: CREATED_MS + 6, queue: "dead", by: "orders" });
  const redriven = eventOf({ number: 2, kind: "redriven", atMs: CREATED_MS + 9, queue: "dead" });
  const back = eventOf({ number: 9, kind: "arrived", atMs: CREATED_MS + 9, ids: [NEW_ID], past });

  it.each([
    ["the queue of its first send", `/queues/orders/messages/${ID}/story`],
    ["its dead-letter queue", `/queues/dead/messages/${ID}/story`],
    ["the queue that it was moved back to", `/queues/orders/messages/${NEW_ID}/story`],
  ])("is the same whole story, asked in %s", async (_where, path) => {
    const atFirst = { queue: "orders", id: ID };
    const inDead = { queue: "dead", id: ID };
    const atLast = { queue: "orders", id: NEW_ID };
    const directory = withStories({
      [`orders ${ID}`]: { events: [accepted, given], after: inDead },
      [`dead ${ID}`]: { events: [arrived, redriven], before: atFirst, after: atLast },
      [`orders ${NEW_ID}`]: { events: [back], before: inDead },
    });
    const { body } = await ask(directory, path);
    expect(body.messages).toEqual([atFirst, inDead, atLast]);
    expect(body.events.map(({ kind, queue }) => [kind, queue])).toEqual([
      ...[
        ["accepted", "orders"],
        ["deadLettered", "orders"],
      ],
      ...[
        ["arrived", "dead"],
        ["redriven", "dead"],
        ["arrived", "orders"],
      ],
    ]);
    expect(body.events.every(({ number }) => number !== null)).toBe(true);
    expect(body.gaps).toEqual([]);
  });

  it("names the trace of the message, by its events or by what is stored of it, and not of one that is gone", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const trace = encodeTrace(`00-${traceId}-b7ad6b7169203331-01`) ?? new Uint8Array();
    const traceOf = async (story: Partial<StoryReply>) => {
      const directory = withStories({ [`orders ${ID}`]: story });
      const look = vi.fn(async () => ({
        messages: [{ trace }],
        matched: 1,
        cursor: null,
        searched: 1,
        of: 1,
      }));
      const queue = () => ({ ...directory.queue("orders"), look }) as never;
      const { body } = await ask(
        { ...directory, queue, traceUrl: "http://t/{traceId}" },
        `/queues/orders/messages/${ID}/story`,
      );
      return [body.trace, look.mock.calls.length];
    };
    const known = { id: traceId, url: `http://t/${traceId}` };
    const gone = eventOf({ kind: "acked" });
    expect(await traceOf({ events: [accepted, gone], traceId })).toEqual([known, 0]);
    expect(await traceOf({ events: [accepted] })).toEqual([known, 1]);
    expect(await traceOf({ events: [] })).toEqual([known, 1]);
    expect(await traceOf({ events: [accepted, gone] })).toEqual([undefined, 0]);
  });

  it("begins with what the message has brought along where its queues do not know it any more", async () => {
    const directory = withStories({
      [`orders ${NEW_ID}`]: { events: [back], before: { queue: "dead", id: ID } },
      [`dead ${ID}`]: { gaps: [{ queue: "dead", reason: "overwritten", untilMs: CREATED_MS + 60_000 }] },
    });
    const { body } = await ask(directory, `/queues/orders/messages/${NEW_ID}/story`);
    expect(body.events).toMatchObject([
      { number: null, kind: "accepted", queue: "orders", ids: [ID], by: "shop" },
      { number: null, kind: "deadLettered", queue: "orders", attempt: 3, error: "Error: no" },
      { number: null, kind: "redriven", queue: "dead", ids: [ID], attempt: null },
      { number: 9, kind: "arrived", queue: "orders", ids: [NEW_ID] },
    ]);
    const nothing = { since: null, kinds: null, after: null };
    expect(body.gaps).toEqual([
      { ...nothing, queue: "dead", reason: "overwritten", until: "2023-11-14T22:14:20.000Z" },
    ]);
  });

  it("has no gap for a send that the message has brought along", async () => {
    const gap = {
      queue: "orders",
      reason: "merged",
      sinceMs: CREATED_MS - 1,
      untilMs: CREATED_MS + 1,
    } as const;
    const directory = withStories({
      [`orders ${ID}`]: {
        gaps: [
          { ...gap, kinds: ["accepted", "delivered"] },
          { ...gap, kinds: ["accepted"] },
        ],
        after: { queue: "dead", id: ID },
      },
      [`dead ${ID}`]: { events: [{ ...arrived, past }], before: { queue: "orders", id: ID } },
    });
    const { body } = await ask(directory, `/queues/orders/messages/${ID}/story`);
    expect(body.gaps).toMatchObject([{ kinds: ["delivered"], since: "2023-11-14T22:13:20.000Z" }]);
  });

  it("leaves out queues that are gone, and ends in a circle", async () => {
    const directory = withStories({
      [`orders ${ID}`]: {
        events: [accepted],
        before: { queue: "gone", id: ID },
        after: { queue: "dead", id: ID },
      },
      [`dead ${ID}`]: {
        events: [arrived],
        before: { queue: "orders", id: ID },
        after: { queue: "orders", id: ID },
      },
    });
    const { body } = await ask(directory, `/queues/orders/messages/${ID}/story`);
    expect(body.messages).toHaveLength(2);
    expect(body.events).toHaveLength(2);
  });

  it("takes an id as clients of SQS know it", async () => {
    const directory = withStories({ [`orders ${ID}`]: { events: [accepted] } });
    const uuid = ID.toUpperCase().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    expect((await ask(directory, `/queues/orders/messages/${uuid}/story`)).body.events).toHaveLength(1);
  });
});

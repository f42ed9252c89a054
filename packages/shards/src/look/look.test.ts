import {
  type HistoryEvent,
  type HistoryRequest,
  type LookRequest,
  type QueueFigures,
  SHARDS_MAX,
  type WatchRequest,
} from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { queueOf } from "../../test/stub-shards.ts";
import { numberOfQueue } from "./history-rules.ts";

function event(number: number, atMs: number, changes: Partial<HistoryEvent> = {}): HistoryEvent {
  return {
    number,
    kind: "accepted",
    atMs,
    queue: "orders#1",
    messages: 1,
    ids: [],
    by: "shop",
    to: null,
    otherIds: [],
    batch: null,
    attempt: null,
    delayMs: null,
    delayReason: null,
    error: null,
    tookMs: null,
    merged: null,
    past: null,
    ...changes,
  };
}

/** The history of a shard as its object lists it. */
function historyOf(events: readonly HistoryEvent[]) {
  return ({ before = Infinity, max }: HistoryRequest) => {
    const older = events.filter(({ number }) => number < before).sort((a, b) => b.number - a.number);
    const shown = older.slice(0, max);
    return { isOn: true, events: shown, next: older.length > max ? (shown.at(-1)?.number ?? null) : null };
  };
}

it("the history of all shards is listed once, newest first, whatever a page has room for", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat(20), { maxLength: 12 }), { minLength: 2, maxLength: 5 }),
      fc.integer({ min: 1, max: 7 }),
      async (shards, max) => {
        // Events of a shard are in order of time.
        const lists = shards.map((times) =>
          times.toSorted((a, b) => a - b).map((atMs, i) => event(i + 1, atMs)),
        );
        const queue = queueOf(...lists.map((events) => ({ history: historyOf(events) })));
        const found: HistoryEvent[] = [];
        let cursor: string | undefined;
        do {
          const page = await queue.history("orders", { max, ...(cursor === undefined ? {} : { cursor }) });
          expect(page.events.length).toBeLessThanOrEqual(max);
          expect(page.next).toBeNull();
          found.push(...page.events);
          cursor = page.cursor;
        } while (cursor !== undefined);
        const times = found.map(({ atMs }) => atMs);
        expect(times).toEqual(times.toSorted((a, b) => b - a));
        expect(found.map(({ number }) => number).toSorted()).toEqual(
          lists.flatMap((list, shard) => list.map(({ number }) => numberOfQueue(number, shard))).toSorted(),
        );
      },
    ),
  );
});

it("a cursor from before a queue had shards is a place in the list of shard 0", async () => {
  const older = event(2, 20, { queue: "orders#0" });
  const queue = queueOf(
    { history: historyOf([older, event(9, 90)]) },
    { history: historyOf([event(30, 95)]) },
  );
  const { events } = await queue.history("orders", { max: 9, before: 9 });
  expect(events.map(({ number }) => number)).toEqual([numberOfQueue(30, 1), numberOfQueue(2, 0)]);
});

it("numbers of events are whole and differ for each shard, as long as an object's own are", () => {
  const last = Number.MAX_SAFE_INTEGER;
  const numbers = [last, last - 1].flatMap((number) =>
    [0, 1, SHARDS_MAX - 1].map((shard) => numberOfQueue(number, shard)),
  );
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.every(Number.isSafeInteger)).toBe(true);
});

it("an event names the queue in place of its shards", async () => {
  const moved = event(1, 5, { by: "orders#2", to: "dead", batch: 3 });
  const queue = queueOf({ history: historyOf([]) }, { history: historyOf([moved]) });
  const { events } = await queue.history("orders", { max: 9 });
  expect(events).toMatchObject([{ number: 129, batch: 385, queue: "orders", by: "orders", to: "dead" }]);
});

describe("a story", () => {
  const nothing = {
    events: [],
    gaps: [{ queue: "orders", reason: "off", untilMs: null }],
    before: null,
    after: null,
  };

  it("is that of the shard that knows the message", async () => {
    const known = {
      events: [event(4, 9)],
      gaps: [],
      before: null,
      after: { queue: "dead", id: "x" },
      traceId: "t",
    };
    const queue = queueOf({ story: () => nothing }, { story: () => known });
    expect(await queue.story("orders", "id")).toMatchObject({
      events: [{ number: 513, queue: "orders" }],
      gaps: [],
      after: { queue: "dead", id: "x" },
      traceId: "t",
    });
  });

  it("of a message that none knows has each gap once", async () => {
    const queue = queueOf({ story: () => nothing }, { story: () => nothing });
    expect(await queue.story("orders", "id")).toEqual(nothing);
  });
});

it("a queue delivers nothing for the reason of the shard that has most waiting, which is named where others differ", async () => {
  const shard = (text: string, visible: number, also: string[] = []) => ({
    why: () => ({
      reason: text === "" ? "empty" : "paused",
      text,
      untilMs: null,
      by: null,
      also: also.map((one) => ({ reason: "alert", text: one, untilMs: null, by: null })),
      messages: { ready: visible, delayed: 2, leased: 3 },
    }),
    messageCounts: () => ({ visible, notVisible: 0, delayed: 0 }),
  });
  const differ = await queueOf(shard("a.", 1, ["x"]), shard("b.", 5, ["x", "y"])).why("orders");
  expect(differ.text).toBe("Of shard 1, where most messages wait: b.");
  expect(differ.messages).toEqual({ ready: 6, delayed: 4, leased: 6 });
  expect(differ.also.map(({ text }) => text)).toEqual(["x", "y"]);
  const same = await queueOf(shard("a.", 1), shard("a.", 5), shard("", 0)).why("orders");
  expect(same.text).toBe("a.");
});

describe("a watch", () => {
  const figures = (ready: number): QueueFigures => ({
    nowMs: 1,
    ready,
    delayed: 0,
    leased: 0,
    backlogBytes: 0,
    oldestMessageTimestampMs: 0,
    isOn: true,
    totals: { accepted: ready },
    tookMs: [1],
  });

  it("answers when one shard has something new, with the figures and events of all", async () => {
    const asked: WatchRequest[][] = [[], []];
    const waiting = Promise.withResolvers<void>();
    const shard = (i: number) => ({
      watch: async (request: WatchRequest) => {
        asked[i]?.push(request);
        if (request.state !== null) await (i === 0 ? new Promise(() => {}) : waiting.promise);
        const events = request.after === null ? [] : [event(request.after + 1, i)];
        return { state: `s${i}`, last: 7 + i, figures: figures(i + 1), events, isGap: false };
      },
    });
    const queue = queueOf(shard(0), shard(1));
    const first = await queue.watch("orders", { after: null, state: null });
    expect(first).toMatchObject({ figures: { ready: 3, totals: { accepted: 3 }, tookMs: [2] }, events: [] });
    const next = queue.watch("orders", { after: first.last, state: first.state, kinds: ["failed"] });
    await expect.poll(() => asked[1]?.at(-1)).toEqual({ after: 8, state: "s1", kinds: ["failed"] });
    waiting.resolve();
    expect(await next).toMatchObject({
      events: [{ number: 8 * 128 }, { number: 9 * 128 + 1 }],
      isGap: false,
    });
    expect(asked[0]?.at(-1)).toEqual({ after: 7, state: null, kinds: ["failed"] });
  });

  it("says that events are missing where its caller has lost its place", async () => {
    const watch = () => ({ state: "s", last: 1, figures: figures(0), events: [], isGap: false });
    const queue = queueOf({ watch }, { watch });
    expect((await queue.watch("orders", { after: 5, state: null })).isGap).toBe(true);
    expect((await queue.watch("orders", { after: 5, state: "1 2 3 4 5" })).isGap).toBe(true);
  });
});

describe("a look", () => {
  const reply = { messages: [], matched: 0, cursor: null, searched: 0, of: 0 };

  it("asks for refs on their shards alone, and for ids on all", async () => {
    const asked: (readonly string[] | undefined)[] = [];
    const look = ({ only }: LookRequest) => {
      asked.push(only);
      return reply;
    };
    const ref = "R".repeat(34);
    const queue = queueOf({ look }, { look }, { look });
    await queue.look("orders", { max: 5, only: [`${ref}-2`, ref] });
    expect(asked).toEqual([[ref], [ref]]);
    asked.length = 0;
    const id = "ab".repeat(16);
    await queue.look("orders", { max: 1, only: [id] });
    expect(asked).toEqual([[id], [id], [id]]);
    asked.length = 0;
    await queue.look("orders", { max: 1, only: ["no name of anything", `${ref}-9`] });
    expect(asked).toEqual([["no name of anything", `${ref}-9`]]);
  });

  it("counts on all shards, and shows the first messages of all", async () => {
    const shard = (...times: number[]) => ({
      look: ({ max }: LookRequest) => ({
        ...reply,
        messages: times.slice(0, max).map((keptUntilMs) => ({ keptUntilMs, ref: "r" })),
        matched: times.length,
        searched: times.length,
        of: times.length,
        errors: { groups: [{ error: "boom", count: times.length }], others: 0, none: 1 },
        finished: 2,
        nowMs: times[0],
      }),
    });
    const queue = queueOf(shard(5, 6, 7), shard(1, 8));
    const found = await queue.look("orders", { max: 3, countsAll: true, countsErrors: true });
    expect(found).toMatchObject({
      matched: 5,
      searched: 5,
      of: 5,
      cursor: null,
      nowMs: 5,
      finished: 4,
      errors: { groups: [{ error: "boom", count: 5 }], none: 2 },
    });
    expect(found.messages.map(({ keptUntilMs }) => keptUntilMs)).toEqual([1, 5, 6]);
  });

  it("asks every shard for a page with as many messages as there can be shards", async () => {
    const look = () => ({ ...reply, messages: [{ ref: "r" }], of: 1, finished: 100 });
    const queue = queueOf(...Array.from({ length: SHARDS_MAX }, () => ({ look })));
    const { finished } = await queue.look("orders", { max: SHARDS_MAX });
    expect(finished).toBe(100 * SHARDS_MAX);
  });

  /** Shard of 150 messages that each call lists the next of, and of 10 finished ones. */
  const shardOf150 = (asked: (number | "count")[], i: number) => ({
    look: ({ max, only, cursor }: LookRequest) => {
      asked.push(only?.length === 0 ? "count" : i);
      const before = cursor === undefined ? 0 : Number(cursor.split("-")[2]);
      const count = Math.min(max, 150 - before);
      const messages = Array.from({ length: only === undefined ? count : 0 }, () => ({ ref: "r" }));
      const next = before + count === 150 || only !== undefined ? null : `1-1-${before + count}`;
      return { ...reply, messages, cursor: next, searched: before + messages.length, of: 150, finished: 10 };
    },
  });

  it("counts the messages of all shards on a page with fewer messages than there are shards", async () => {
    const asked: (number | "count")[] = [];
    const queue = queueOf(...[0, 1, 2, 3].map((i) => shardOf150(asked, i)));
    const first = await queue.look("orders", { max: 3 });
    expect(first).toMatchObject({ searched: 3, of: 600, finished: 40, cursor: "1-1-1_1-1-1_1-1-1_b150" });
    expect(asked).toEqual([0, 1, 2, "count"]);
    asked.length = 0;
    const next = await queue.look("orders", { max: 3, cursor: first.cursor ?? "" });
    expect(next).toMatchObject({ searched: 6, of: 600 });
    expect(next).not.toHaveProperty("finished");
    expect(asked).toEqual([0, 1, 2]);
    const smaller = await queue.look("orders", { max: 1, cursor: next.cursor ?? "" });
    expect(smaller).toMatchObject({ searched: 7, of: 600 });
  });

  it("counts the messages of all shards while it reads whole bodies of one", async () => {
    const asked: (number | "count")[] = [];
    const queue = queueOf(...[0, 1, 2].map((i) => shardOf150(asked, i)));
    const searched: number[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await queue.look("orders", { max: 100, isWhole: true, ...(cursor ? { cursor } : {}) });
      expect(page.of).toBe(450);
      searched.push(page.searched);
      cursor = page.cursor;
    } while (cursor !== null);
    expect(searched).toEqual([100, 150, 250, 300, 400, 450]);
    expect(asked.filter((one) => one === "count")).toHaveLength(2);
  });

  it("reads whole bodies of one shard at a time", async () => {
    const asked: number[] = [];
    const shard = (i: number) => ({
      look: ({ max, only }: LookRequest) => {
        if (only === undefined) asked.push(i);
        return { ...reply, messages: Array.from({ length: Math.min(i, max) }, () => ({ ref: "r" })), of: i };
      },
    });
    const queue = queueOf(shard(0), shard(2), shard(3));
    const first = await queue.look("orders", { max: 9, isWhole: true });
    expect([first.messages.length, asked]).toEqual([2, [0, 2]]);
    const next = await queue.look("orders", { max: 9, isWhole: true, cursor: first.cursor ?? "" });
    expect([next.messages.length, next.cursor]).toEqual([3, null]);
    expect(asked).toEqual([0, 2, 3]);
  });
});

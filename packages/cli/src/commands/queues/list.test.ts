import type { QueueView } from "@sluice/gateway/views";
import { expect, it } from "vitest";
import { factsOf, moveOf, rowOf } from "./list.ts";

const queue = (ready: number, ...kinds: string[]) =>
  ({
    name: "orders",
    messages: { ready, delayed: 0, leased: 0 },
    oldestMessageAt: null,
    now: "2026-11-27T00:00:00.000Z",
    consumer: null,
    redrive: null,
    health: null,
    settings: { shards: 3, alertsSilentUntil: null, deliveryPaused: false },
    damage: kinds.map((kind) => ({ kind })),
  }) as unknown as QueueView;

it.each([
  [queue(0), ["0", "0"]],
  [queue(7, "messagesLost"), ["7", "0"]],
  [queue(0, "unreadable"), ["?", "?"]],
  [queue(7, "messagesLost", "unreadable"), ["7+", "?"]],
])("a list shows what of %j is counted", (view, [ready, delayed]) => {
  expect(rowOf(view).slice(0, 3)).toEqual(["orders", ready, delayed]);
});

const health = {
  present: true,
  inFlight: 0,
  consecutiveFailures: 0,
  lastDelivery: { endedAt: "2026-11-26T23:56:00.000Z", failure: null, acked: 1, messages: 1 },
  next: null,
};
const failed = (consecutiveFailures: number) => ({
  ...health,
  consecutiveFailures,
  lastDelivery: { ...health.lastDelivery, failure: "card declined", acked: 0 },
});

it.each([
  ["ok", { ...queue(0), health }],
  ["failing (3): card declined", { ...queue(1), health: failed(3) }],
  [
    "failing (3): card declined",
    { ...queue(0), messages: { ready: 0, delayed: 0, leased: 1 }, health: failed(3) },
  ],
  [
    "idle: 3 deliveries in a row failed, the last 4 min ago: card declined",
    { ...queue(0), health: failed(3) },
  ],
  ["idle: the last delivery failed 4 min ago: card declined", { ...queue(0), health: failed(1) }],
])("a list says %j", (text, view) => {
  const state = rowOf(view).at(-1);
  expect(typeof state === "string" ? state : state?.text).toBe(`${text}, 3 shards`);
});

it.each<[object | null, string | null]>([
  [{ type: "worker", worker: "shop", settings: { maxConcurrency: null } }, "as many as needed"],
  [{ type: "worker", worker: "shop", settings: { maxConcurrency: 3 } }, "3 at most"],
  [{ type: "http_push", settings: { url: "https://shop.example/", maxConcurrency: 50 } }, "50 at most"],
  [{ type: "http_pull", settings: {} }, null],
  [null, null],
])("the facts of a queue with the consumer %j say that %j deliveries run at a time", (consumer, text) => {
  const view = {
    ...queue(1),
    id: "1",
    consumer,
    oldestMessageAt: "2026-11-26T23:56:00.000Z",
    deadLettersOf: { queues: [], subscriptions: [] },
    producers: [],
    topics: [],
    lastMove: null,
  } as unknown as QueueView;
  const lines = factsOf(view, { why: [], errors: [] }, {});
  expect(/^concurrency +(.*)$/m.exec(lines)?.[1] ?? null).toBe(text);
  expect(lines).toContain(", the oldest came 4 min ago\n");
});

it("a move that has failed says why in words", () => {
  const startedAt = "2026-11-26T23:55:00.000Z";
  const lastMove = {
    status: "failed",
    to: null,
    moved: 2,
    toMove: 5,
    stayed: 0,
    startedAt,
    failure: "tookTooLong",
  } as const;
  expect(moveOf({ lastMove, now: "2026-11-27T00:00:00.000Z" })).toBe(
    "failed (it took too long), 2 messages to where they came from, begun 5 min ago",
  );
});

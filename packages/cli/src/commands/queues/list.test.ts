import type { QueueView } from "@sluice/gateway/views";
import { expect, it } from "vitest";
import { rowOf } from "./list.ts";

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

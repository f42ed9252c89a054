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

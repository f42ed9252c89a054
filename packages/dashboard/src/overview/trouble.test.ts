import { describe, expect, it } from "vitest";
import { queueView, workerConsumer } from "../../test/views.ts";
import type { HealthView, QueueView } from "../api/call.ts";
import { sorted } from "../ui/table.tsx";
import { QUEUE_COLUMNS } from "./columns.tsx";
import { AGEING_MS, byTrouble, othersText, STATES, totalsOf, troubleOf } from "./trouble.ts";

const NOW_MS = Date.parse(queueView().now);
const since = (ms: number) => new Date(NOW_MS - ms).toISOString();
const holding = (ready: number, delayed = 0, leased = 0) => ({ messages: { ready, delayed, leased } });
const health: HealthView = {
  present: true,
  inFlight: 0,
  consecutiveFailures: 0,
  lastDelivery: null,
  next: null,
};
const paused = { settings: { ...queueView().settings, deliveryPaused: true } };
const deadLetters = { deadLettersOf: { queues: ["orders"], subscriptions: [] } };

describe("the state of a queue on the first page", () => {
  const cases: readonly (readonly [string, Partial<QueueView>])[] = [
    ["failing", { health: { ...health, consecutiveFailures: 1 }, ...paused, ...holding(1) }],
    ["failing", { health: { ...health, consecutiveFailures: 1 }, ...holding(0, 0, 1) }],
    ["idle", { health: { ...health, consecutiveFailures: 1 } }],
    ["paused", { health: { ...health, consecutiveFailures: 1 }, ...paused }],
    ["failing", { health: { ...health, present: false } }],
    ["failing", { consumer: workerConsumer("mailer", null) }],
    ["failing", { damage: [{ kind: "structure", foundAt: since(0), messagesLost: null, text: "x" }] }],
    ["dead letters", { ...deadLetters, ...holding(1), ...paused }],
    ["dead letters", { ...deadLetters, ...holding(0, 1) }],
    ["idle", deadLetters],
    ["paused", { ...paused, ...holding(5), oldestMessageAt: since(AGEING_MS) }],
    ["busy", { ...holding(5), oldestMessageAt: since(AGEING_MS - 1) }],
    ["ageing", { ...holding(5), oldestMessageAt: since(AGEING_MS) }],
    ["ageing", { ...holding(5), oldestMessageAt: since(AGEING_MS + 1) }],
    ["busy", { ...holding(0, 5), oldestMessageAt: since(AGEING_MS) }],
    ["busy", { ...holding(0, 0, 1), health: { ...health, inFlight: 1 } }],
    ["busy", { rates: { in: 1, out: 0, dead: 0 } }],
    ["idle", { rates: { in: 0, out: 0, dead: 0 } }],
    ["idle", {}],
  ];
  it.each(cases)("is %s of %j", (state, changes) => {
    expect(troubleOf(queueView(changes))).toBe(state);
  });
});

const QUEUES = [
  queueView({ name: "a" }),
  queueView({ name: "b", ...holding(7, 2) }),
  queueView({ name: "c", ...paused }),
  queueView({ name: "d", ...holding(200_000) }),
  queueView({ name: "e", health: { ...health, present: false } }),
  queueView({ name: "f", ...deadLetters, ...holding(3) }),
];

it("queues are sorted by their trouble, then by what they hold", () => {
  expect(byTrouble(QUEUES)).toEqual(["e", "f", "c", "d", "b", "a"]);
});

it("totals are messages that wait, dead letters, and queues by state", () => {
  const { waiting, deadLetters: dead, queues } = totalsOf(QUEUES);
  expect({ waiting, dead }).toEqual({ waiting: 200_012, dead: 3 });
  expect(STATES.map((state) => queues[state])).toEqual([1, 1, 0, 1, 2, 1]);
});

it("queues that found no room are said to be idle if they are", () => {
  const idle = Array.from({ length: 476 }, () => queueView());
  expect(othersText(idle)).toBe("and 476 others, all idle");
  expect(othersText([...idle, queueView(holding(1))])).toBe("and 477 others, 476 of them idle");
  expect(othersText([queueView(holding(1))])).toBe("and 1 other");
});

it("a table is sorted by a column, numbers the greatest first, and the other way round", () => {
  const names = (heading: string | null, isTurned = false) =>
    sorted(QUEUES, QUEUE_COLUMNS, { heading, isTurned }).map(({ name }) => name);
  expect(names("Ready").slice(0, 3)).toEqual(["d", "b", "f"]);
  expect(names("Ready", true).at(-1)).toBe("d");
  expect(names("Queue", true)[0]).toBe("f");
  expect(names("Delivery")[0]).toBe("e");
  expect(names(null)).toEqual(QUEUES.map(({ name }) => name));
});

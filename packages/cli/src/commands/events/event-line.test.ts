import type { EventView } from "@sluice/gateway/views";
import { expect, it } from "vitest";
import { eventLines } from "./event-line.ts";

const PRINTED: EventView = {
  number: 1,
  kind: "printed",
  at: "2026-11-21T12:00:00.040Z",
  queue: "orders",
  messages: 1,
  ids: ["a"],
  otherIds: [],
  by: "mailer",
  to: null,
  batch: 7,
  attempt: null,
  delayMs: null,
  delayReason: null,
  error: null,
  tookMs: null,
  merged: null,
};

it("printed lines stand below their event, with what is missing", () => {
  const lines = [
    { at: "2026-11-21T12:00:00.005Z", level: "log", text: "begun" },
    {
      at: "2026-11-21T12:00:00.030Z",
      level: "error",
      text: "TypeError: no\u001b[2J stock\n    at shop.ts:3",
    },
  ] as const;
  expect(eventLines({ ...PRINTED, logs: { lines, leftOut: 1, mixed: 2, ofWorker: true } }, {})).toEqual([
    "2026-11-21T12:00:00.040Z  orders  printed  a (by mailer, perhaps by other code of its Worker)",
    "  2026-11-21T12:00:00.005Z  log  begun",
    "  2026-11-21T12:00:00.030Z  error  TypeError: no\\x1b[2J stock",
    "        at shop.ts:3",
    "  Left out: 1 line, since too much was printed.",
    "  Left out: 2 lines, since other deliveries ran too. The compatibility flag nodejs_als tells whose a line is.",
  ]);
});

it("lines of which nobody knows whose of a batch they are belong to the batch", () => {
  const logs = { lines: [], leftOut: 1, mixed: 0, ofWorker: false };
  expect(eventLines({ ...PRINTED, messages: 5, ids: ["a", "b", "c", "d", "e"], logs }, {})[0]).toBe(
    "2026-11-21T12:00:00.040Z  orders  printed  while its batch of 5 was handled (by mailer)",
  );
});

it("an event whose printed lines are not kept says so", () => {
  const merged = { until: "2026-11-21T12:00:00.900Z", events: 4, tookMs: null };
  expect(eventLines({ ...PRINTED, messages: 9, ids: [], merged }, {})).toEqual([
    "2026-11-21T12:00:00.040Z  orders  printed  9 messages (by mailer, too much happened in this second, the lines are " +
      "not kept, 4 events until 2026-11-21T12:00:00.900Z)",
  ]);
});

const failed = (error: string): EventView => ({
  number: 1,
  kind: "failed",
  at: "2026-11-26T20:00:00.000Z",
  queue: "orders",
  messages: 1,
  ids: ["a".repeat(32)],
  by: "shop",
  to: null,
  otherIds: [],
  batch: 1,
  attempt: 3,
  delayMs: null,
  delayReason: null,
  error,
  tookMs: 12,
  merged: null,
});

it.each([
  ["its consumer has ended", "its consumer has ended"],
  [
    "Error: declined\n    at run (sluice:run.ts:1:2)\n    at charge (src/payment.ts:15:36)\nCaused by: Error: no",
    "Error: declined (src/payment.ts:15:36)",
  ],
])(
  "a failed delivery has the first line of its error and the place in the user's code: %j",
  (error, reason) => {
    expect(eventLines(failed(error), {})).toEqual([
      `2026-11-26T20:00:00.000Z  orders  failed  ${"a".repeat(32)} (by shop, attempt 3, 12 ms): ${reason}`,
    ]);
  },
);
it.each([
  ["accepted", "(due in 1 min)"],
  ["retried", "(again in 1 min)"],
] as const)("the line of an event says what its time means: %s", (kind, text) => {
  const event: EventView = { ...PRINTED, kind, by: null, batch: null, delayMs: 60_000 };
  expect(eventLines(event, {})[0]).toContain(text);
});

it.each([
  [{ kind: "paused" }, "paused  delivery was paused"],
  [{ kind: "resumed" }, "resumed  delivery was resumed"],
  [{ kind: "clockMoved", delayMs: 3_600_000 }, "clockMoved  the clock was moved forward by 1 h"],
  [{ kind: "clockMoved", delayMs: 1_500 }, "clockMoved  the clock was moved forward by 1.5 s"],
  [
    { kind: "faulted", messages: 1, ids: ["a"], error: "failBatch: the handler is not called" },
    "faulted  a fault acted on the delivery of a: failBatch: the handler is not called",
  ],
  [
    {
      kind: "faulted",
      messages: 3,
      ids: ["a", "b", "c"],
      error: "reorder: the messages of the batch are shuffled",
    },
    "faulted  a fault acted on the delivery of 3 messages: reorder: the messages of the batch are shuffled",
  ],
] as const)("what happens to a queue, or to a delivery, is said in words: %j", (facts, text) => {
  const event: EventView = { ...PRINTED, by: null, batch: null, messages: 0, ids: [], ...facts };
  expect(eventLines(event, {})).toEqual([`2026-11-21T12:00:00.040Z  orders  ${text}`]);
});

it.each([
  [{ pausedMs: 3_800 }, "(by mailer, paused for 3.8 s before that)"],
  [{ movedMs: 3_600_000 }, "(by mailer, clock moved by 1 h before that)"],
  [
    { pausedMs: 1_000, movedMs: 60_000 },
    "(by mailer, paused for 1 s before that, clock moved by 1 min before that)",
  ],
])("an event of a story says what its message waited for besides: %j", (waits, text) => {
  expect(eventLines({ ...PRINTED, kind: "delivered", ...waits }, {})[0]).toContain(text);
});

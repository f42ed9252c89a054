import { expect, it } from "vitest";
import { eventView } from "../../test/views.ts";
import type { EventView, StoryGapView } from "../api/call.ts";
import { gapText, storySteps } from "./story-steps.ts";

const START_MS = Date.parse("2026-11-21T12:00:00.000Z");

function event(kind: EventView["kind"], afterMs: number, changes: Partial<EventView> = {}): EventView {
  const at = new Date(START_MS + afterMs).toISOString();
  return eventView({ number: afterMs, kind, at, ids: ["1"], ...changes });
}

function storyOf(events: readonly EventView[], gaps: readonly StoryGapView[] = []) {
  return { events, gaps, messages: ["before", "orders", "dead"].map((queue) => ({ queue, id: "1" })) };
}

it("a story names each event, its cause and the wait before it", () => {
  const events = [
    event("accepted", 0, { by: "shop", delayMs: 5_000, delayReason: "queue" }),
    event("delivered", 5_010, { by: "mailer", attempt: 1, batch: 7 }),
    event("failed", 5_050, { batch: 7, attempt: 1, tookMs: 40, error: "Error: no lamp\n  at mail.ts:3" }),
    event("retried", 5_050, { delayMs: 30_000, delayReason: "retryDelay" }),
    event("delivered", 35_060, { by: "mailer", attempt: 2, batch: 8 }),
    event("failed", 35_100, { batch: 8, attempt: 2, tookMs: 40 }),
    event("deadLettered", 35_100, { to: "orders-dlq", attempt: 2 }),
    event("arrived", 35_110, { queue: "orders-dlq", by: "orders" }),
  ];
  const { steps } = storySteps(storyOf(events));
  expect(steps.map(({ title, detail, wait }) => [title, detail, wait?.text ?? null])).toEqual([
    ["Sent by shop", "due after 5.0 s: the queue's delivery_delay", null],
    ["Delivered to mailer", "attempt 1", "waited 5.0 s"],
    ["Failed", "attempt 1 after 40 ms", "worked on for 40 ms"],
    ["To be retried", "due after 30 s: the queue's retry_delay", null],
    ["Delivered to mailer", "attempt 2", "waited 30 s"],
    ["Failed", "attempt 2 after 40 ms", "worked on for 40 ms"],
    ["Moved to dead-letter queue orders-dlq", "after 2 attempts", null],
    ["Arrived from orders", "", "waited 10 ms"],
  ]);
  expect(steps.map(({ wait }, i) => (wait?.isLong === true ? i : -1)).filter((i) => i !== -1)).toEqual([
    1, 4,
  ]);
  expect(steps[2]?.error).toContain("no lamp");
  expect(new Set(steps.map(({ key }) => key)).size).toBe(8);
});

it.each([
  [30_000, "retryDelay", "due after 30 s: the queue's retry_delay"],
  [30_000, null, "due after 30 s"],
  [0, "retryDelay", "due at once: the queue's retry_delay"],
  [0, null, ""],
  [null, "restart", "because the broker stopped during the delivery"],
  [null, null, ""],
] as const)("a retry after %s ms for %s reads: %s", (delayMs, delayReason, detail) => {
  const { steps } = storySteps(storyOf([event("retried", 0, { delayMs, delayReason })]));
  expect(steps.map((step) => step.detail)).toEqual([detail]);
});

it("a story says how much of a wait was a pause, or a move of the clock", () => {
  const events = [
    event("accepted", 0),
    event("delivered", 268_000, { pausedMs: 240_000, batch: 7 }),
    event("faulted", 268_000, { batch: 7, error: "slow: …" }),
    event("failed", 270_000, { batch: 7, movedMs: 1_500 }),
    event("delivered", 3_870_000, { pausedMs: 1_000, movedMs: 3_600_000 }),
  ];
  const { steps } = storySteps(storyOf(events));
  expect(steps.map(({ wait }) => wait?.text ?? null)).toEqual([
    null,
    "waited 4 min 28 s, of that 4 min paused",
    null,
    "worked on for 2.0 s, of that 1.5 s by moving the clock",
    "waited 1 h, of that 1.0 s paused and 1 h by moving the clock",
  ]);
});

it("a story says of nothing that it was work but of what the delivery itself said", () => {
  const events = [event("delivered", 0, { by: "SQS", batch: 7 }), event("acked", 9_000, { by: "SQS" })];
  expect(storySteps(storyOf(events)).steps[1]?.wait?.text).toBe("9.0 s passed");
});

it("a story has its gaps where they are, and tells no wait over them", () => {
  const gap = (changes: Partial<StoryGapView>): StoryGapView => ({
    queue: "orders",
    reason: "merged",
    since: null,
    until: null,
    kinds: null,
    after: null,
    ...changes,
  });
  const events = [event("failed", 10), event("retried", 20), event("arrived", 30, { queue: "dead" })];
  const gaps = [
    gap({ after: 10 }),
    gap({ reason: "overwritten" }),
    gap({ queue: "dead", reason: "off" }),
    gap({ queue: "before", reason: "unknown" }),
  ];
  const { steps, gapsAfter } = storySteps(storyOf(events, gaps));
  expect(steps.map((step) => step.gaps)).toEqual([[gaps[1], gaps[3]], [gaps[0]], []]);
  expect(gapsAfter).toEqual([gaps[2]]);
  expect(steps.map(({ wait }) => wait?.text ?? null)).toEqual([null, null, "waited 10 ms"]);
  // The queue knows nothing of the send that a dead letter has brought along.
  const brought = [event("accepted", 0, { number: null }), ...events];
  const unsent = storySteps(storyOf(brought, [gap({})]));
  expect(unsent.steps.map((step) => step.gaps.length)).toEqual([0, 1, 0, 0]);
  expect(unsent.steps[1]?.wait).toBeNull();
  const whole = storySteps(storyOf(events, [gap({ reason: "overwritten", until: events[2]?.at ?? null })]));
  expect(whole.steps.map(({ wait }) => wait)).toEqual([null, null, null]);
});

it("a story says what a crash has lost of it: before, between and after", () => {
  const at = (ms: number) => event("acked", ms).at;
  const text = (since: string | null, until: string | null) => {
    const gap = { queue: "orders", reason: "unknown" as const, since, until, kinds: null, after: null };
    return gapText(gap, false, at(0));
  };
  expect(text(null, at(0))).toMatch(/^What happened in orders before .* was not noted: a crash loses/);
  expect(text(at(0), at(5_000))).toMatch(/^What happened in orders from .* to .* was not noted/);
  expect(text(at(0), null)).toMatch(
    /^The message is not in orders any more\. What became of it was not noted/,
  );
  expect(text(null, null)).toBe("The history of orders does not name this message.");
});

it("a story says what the handler printed, and of which batch", () => {
  const logs = {
    lines: [{ at: "2026-11-21T12:00:00.005Z", level: "error" as const, text: "no lamp" }],
    leftOut: 0,
    mixed: 0,
    ofWorker: false,
  };
  const merged = { until: "2026-11-21T12:00:00.900Z", events: 4, tookMs: null };
  const { steps } = storySteps(
    storyOf([
      event("printed", 0, { logs }),
      event("printed", 0, {
        logs: { ...logs, lines: [...logs.lines, ...logs.lines], ofWorker: true },
        messages: 3,
      }),
      event("printed", 0, { logs: { ...logs, lines: [], mixed: 2 } }),
      event("printed", 0, { merged, messages: 9 }),
    ]),
  );
  expect(steps.map(({ title, detail }) => [title, detail])).toEqual([
    ["Printed 1 line", ""],
    ["Its Worker printed 2 lines", "while its batch of 3 was handled"],
    ["Printed", ""],
    ["Printed", "not kept: too much happened in this second"],
  ]);
  expect(steps[0]?.logs).toBe(logs);
});

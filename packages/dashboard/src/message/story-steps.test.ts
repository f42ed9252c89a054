import { expect, it } from "vitest";
import { eventView } from "../../test/views.ts";
import type { EventView } from "../api/call.ts";
import { storySteps } from "./story-steps.ts";

const START_MS = Date.parse("2026-11-21T12:00:00.000Z");

function event(kind: EventView["kind"], afterMs: number, changes: Partial<EventView> = {}): EventView {
  const at = new Date(START_MS + afterMs).toISOString();
  return eventView({ number: afterMs, kind, at, ids: ["1"], ...changes });
}

it("a story names each event, its cause and the wait before it", () => {
  const events = [
    event("accepted", 0, { by: "shop", delayMs: 5_000, delayReason: "queue" }),
    event("delivered", 5_010, { by: "mailer", attempt: 1 }),
    event("failed", 5_050, { attempt: 1, tookMs: 40, error: "Error: no lamp\n  at mail.ts:3" }),
    event("retried", 5_050, { delayMs: 30_000, delayReason: "retryDelay" }),
    event("delivered", 35_060, { by: "mailer", attempt: 1 }),
    event("deadLettered", 35_100, { to: "orders-dlq", attempt: 2 }),
    event("arrived", 35_110, { queue: "orders-dlq", by: "orders" }),
  ];
  const steps = storySteps(events, true);
  expect(steps.map(({ title, detail, wait }) => [title, detail, wait?.text ?? null])).toEqual([
    ["Sent by shop", "due after 5.0 s: the queue's delivery_delay", null],
    ["Delivered to mailer", "attempt 1", "waited 5.0 s"],
    ["Failed", "attempt 1 after 40 ms", "worked on for 40 ms"],
    ["To be retried", "due after 30 s: the queue's retry_delay", null],
    ["Delivered to mailer", "attempt 2", "waited 30 s"],
    ["Moved to dead-letter queue orders-dlq", "after 2 attempts", "worked on for 40 ms"],
    ["Arrived from orders", "", "waited 10 ms"],
  ]);
  expect(steps.map(({ wait }) => wait?.isLong === true)).toEqual([
    false,
    true,
    false,
    false,
    true,
    false,
    false,
  ]);
  expect(steps[2]?.error).toContain("no lamp");
  expect(new Set(steps.map(({ key }) => key)).size).toBe(7);
});

it("a story with gaps counts no deliveries", () => {
  const [step] = storySteps([event("delivered", 0, { by: "mailer", attempt: 1 })], false);
  expect(step).toMatchObject({ title: "Delivered to mailer", detail: "" });
});

import { expect, it } from "vitest";
import { counted, TENTH } from "../test/counted.ts";
import { costsOf } from "./costs.ts";

it("what queues cost is summed up, with and without what is included", () => {
  const { sum, monthEnd } = costsOf([counted("orders"), counted("mails")], TENTH);
  // 60 rows, 2 requests at 0.15, 0.000256 M GB-s at 12.50, 0.002 for reads.
  expect(sum.usd).toBeCloseTo(60 + 0.3 + 0.0032 + 0.002, 9);
  expect(sum.beyondIncludedUsd).toBeCloseTo(10 + 0.15, 9);
  expect(monthEnd?.usd).toBeCloseTo(3 * sum.usd, 6);
  expect(monthEnd?.beyondIncludedUsd).toBeCloseTo(130 + 0.75, 6);
  expect(sum.others.cloudflareQueues).toBeCloseTo(48, 9);
});

it("what queues cost has no month's end while a queue has counted less than an hour", () => {
  const costs = costsOf([counted("orders"), counted("new", { sinceMs: TENTH - 1 })], TENTH);
  expect(costs.monthEnd).toBeNull();
  expect(costs.queues.map(({ monthEndUsd }) => monthEndUsd === null)).toEqual([false, true]);
});

it("what a queue costs that has slept since last month is counted since this month began", () => {
  const { queues } = costsOf([counted("orders", { month: "2026-10", sinceMs: 0 })], TENTH);
  expect(queues).toMatchObject([
    { since: "2026-11-01T00:00:00.000Z", used: { messages: 0 }, monthEndUsd: 0 },
  ]);
});

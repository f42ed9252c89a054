import { expect, it } from "vitest";
import { type CountedQueue, costsOf } from "./costs.ts";

const START = Date.parse("2026-11-01T00:00:00Z");
const TENTH = Date.parse("2026-11-11T00:00:00Z");

function counted(name: string, changes: Partial<CountedQueue["usage"]> = {}): CountedQueue {
  const usage = {
    month: "2026-11",
    sinceMs: START,
    rowsWritten: 30e6,
    rowsRead: 1e6,
    requests: 1e6,
    awakeMs: 1e6,
    messages: 20e6,
    messageBytes: 4e9,
    messageChunks: 20e6,
    deliveries: 20e6,
    ...changes,
  };
  return { name, kind: "standard", usage };
}

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

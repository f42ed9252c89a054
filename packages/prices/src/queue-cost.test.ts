import { expect, it } from "vitest";
import { factorAtMonthEnd, monthEndMs } from "./month.ts";
import { type CountedMonth, PER_MILLION_FROM_MESSAGES, queueCost } from "./queue-cost.ts";

const START = Date.parse("2026-11-01T00:00:00Z");
const TENTH = Date.parse("2026-11-11T00:00:00Z");

const COUNTED: CountedMonth = {
  month: "2026-11",
  sinceMs: START,
  rowsWritten: 20_000,
  rowsRead: 0,
  requests: 2_000,
  awakeMs: 0,
  messages: 10_000,
  messageBytes: 2e6,
  messageChunks: 10_000,
  deliveries: 10_000,
};

it("is what was counted, for a million messages, and beside what others take", () => {
  const { soFar, perMillion, others } = queueCost(COUNTED, "standard", TENTH);
  expect(soFar.total).toBeCloseTo(0.0203, 12);
  expect(perMillion?.own.total).toBeCloseTo(2.03, 12);
  expect(perMillion?.others.cloudflareQueues).toBeCloseTo(1.2, 12);
  expect(others.cloudflareQueues).toBeCloseTo(0.012, 12);
});

it.each([
  [PER_MILLION_FROM_MESSAGES - 1, false],
  [PER_MILLION_FROM_MESSAGES, true],
  [PER_MILLION_FROM_MESSAGES + 1, true],
])("says of %i messages what a million takes: %s", (messages, isTold) => {
  const cost = queueCost({ ...COUNTED, messages }, "standard", TENTH);
  expect(cost.perMillion !== null).toBe(isTold);
  expect(cost.soFar.total).toBeGreaterThan(0);
});

it("is at the end of the month what it comes to at this rate", () => {
  expect(queueCost(COUNTED, "standard", TENTH).factorAtMonthEnd).toBeCloseTo(3, 12);
  const late = Date.parse("2026-11-10T00:00:00Z");
  expect(factorAtMonthEnd(late, TENTH)).toBeCloseTo(21, 12);
});

it("says nothing about the month after less than an hour", () => {
  expect(factorAtMonthEnd(TENTH, TENTH + 3_599_999)).toBeNull();
  expect(factorAtMonthEnd(TENTH, TENTH + 3_600_000)).not.toBeNull();
});

it("is nothing for a queue that has slept since an earlier month", () => {
  const cost = queueCost(COUNTED, "standard", Date.parse("2026-12-01T00:00:00Z"));
  expect(cost).toMatchObject({ soFar: { total: 0 }, perMillion: null, factorAtMonthEnd: 1 });
});

it("takes months as they are, in UTC", () => {
  expect(monthEndMs(Date.parse("2026-12-31T23:59:59Z"))).toBe(Date.parse("2027-01-01T00:00:00Z"));
  expect(monthEndMs(Date.parse("2028-02-01T00:00:00Z"))).toBe(Date.parse("2028-03-01T00:00:00Z"));
});

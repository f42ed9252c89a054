import { expect, it } from "vitest";
import { MonthUsage, type UsageCounts } from "./month-usage.ts";
import { storedUsage, usageFrom } from "./stored-usage.ts";

const NOON = Date.parse("2026-11-30T12:00:00Z");
const MIDNIGHT = Date.parse("2026-12-01T00:00:00Z");

function counter() {
  const counts: { -readonly [Name in keyof UsageCounts]: number } = {
    rowsWritten: 1,
    rowsRead: 2,
    requests: 3,
    awakeMs: 4,
    messages: 5,
    messageBytes: 6,
    messageChunks: 7,
    deliveries: 8,
  };
  return { counts, read: () => ({ ...counts }) };
}

it("adds what an epoch counts to what those before it have", () => {
  const { counts, read } = counter();
  const first = new MonthUsage(read, null, NOON).read(NOON + 1);
  expect(first).toEqual({ ...counts, month: "2026-11", sinceMs: NOON });
  const next = new MonthUsage(read, first, NOON + 2);
  counts.rowsWritten += 10;
  expect(next.read(NOON + 3)).toMatchObject({
    month: "2026-11",
    sinceMs: NOON,
    rowsWritten: 12,
    messages: 10,
  });
});

it("begins anew with a month, in UTC, within an epoch and between two", () => {
  const { counts, read } = counter();
  const usage = new MonthUsage(read, null, NOON);
  const last = usage.read(MIDNIGHT - 1);
  expect(last).toMatchObject({ month: "2026-11", requests: 3 });
  expect(usage.read(MIDNIGHT)).toMatchObject({ month: "2026-12", sinceMs: MIDNIGHT, requests: 0 });
  counts.requests += 2;
  expect(usage.read(MIDNIGHT + 1)).toMatchObject({ requests: 2, rowsWritten: 0 });
  const next = new MonthUsage(read, last, MIDNIGHT + 60_000).read(MIDNIGHT + 60_000);
  expect(next).toMatchObject({ month: "2026-12", sinceMs: MIDNIGHT, requests: 5 });
});

it("is stored and read again, by releases that count more as well", () => {
  const usage = new MonthUsage(counter().read, null, NOON).read(NOON);
  const stored = JSON.parse(JSON.stringify(storedUsage(usage))) as unknown[];
  expect(stored).toEqual(["2026-11", NOON, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(usageFrom(stored)).toEqual(usage);
  expect(usageFrom([...stored, 9])).toEqual(usage);
  expect(usageFrom(stored.slice(0, -1))).toEqual({ ...usage, deliveries: 0 });
});

it.each([undefined, null, 5, [], [1, 2], ["2026-11"]])("reads %j as nothing", (stored) => {
  expect(usageFrom(stored)).toBeNull();
});

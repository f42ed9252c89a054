import { expect, it } from "vitest";
import { billBeyondIncluded, billOf, NOTHING_USED, sumOf, times } from "./bill.ts";

it("the price of Durable Objects is 1.00 USD for a million rows written", () => {
  expect(billOf({ ...NOTHING_USED, rowsWritten: 1e6 }).total).toBeCloseTo(1, 12);
});

it("the price of Durable Objects is 0.001 USD for a million rows read", () => {
  expect(billOf({ ...NOTHING_USED, rowsRead: 1e6 }).total).toBeCloseTo(0.001, 12);
});

it("the price of Durable Objects is 0.15 USD for a million requests", () => {
  expect(billOf({ ...NOTHING_USED, requests: 1e6 }).total).toBeCloseTo(0.15, 12);
});

it("the price of Durable Objects is 12.50 USD for a million GB-seconds at 128 MB", () => {
  expect(billOf({ ...NOTHING_USED, awakeMs: 1e9 }).total).toBeCloseTo(1.6, 12);
});

it("the price of Durable Objects is the sum of its meters", () => {
  const { rowsWritten, rowsRead, requests, duration, total } = billOf({
    rowsWritten: 5e6,
    rowsRead: 7e9,
    requests: 11e6,
    awakeMs: 13e9,
  });
  expect([rowsWritten, rowsRead, requests, duration]).toEqual([5, 7, 1.65, 20.8]);
  expect(total).toBeCloseTo(34.45, 12);
});

it("the price of Durable Objects is nothing up to what the plan includes, and the list price beyond", () => {
  const included = { rowsWritten: 50e6, rowsRead: 25e9, requests: 1e6, awakeMs: (400_000 / 0.128) * 1_000 };
  expect(billBeyondIncluded(included).total).toBeCloseTo(0, 9);
  expect(billBeyondIncluded({ ...included, rowsWritten: 53e6 }).total).toBeCloseTo(3, 9);
  expect(billBeyondIncluded({ ...included, requests: 3e6 }).total).toBeCloseTo(0.3, 9);
  expect(billBeyondIncluded(sumOf([included, included])).total).toBeCloseTo(80.15, 9);
  expect(times(included, 2)).toEqual(sumOf([included, included]));
});

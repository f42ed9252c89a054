import { expect, it } from "vitest";
import { billBeyondIncluded, billOf, NOTHING_USED, times, type Used } from "./bill.ts";
import { INCLUDED } from "./prices.ts";

/** Use of a message that comes alone, with Cloudflare's default consumer: `pnpm bench --price --case "1 message/min"`. */
const ALONE: Used = { rowsWritten: 4.1, rowsRead: 40, requests: 3.1, awakeMs: 150 };
const MESSAGES_A_MONTH = 30 * 24 * 60;

it("a queue with a message a minute costs at most 5 USD for a million", () => {
  expect(billOf(times(ALONE, 1e6)).total).toBeLessThan(5);
});

it("two hundred queues with a message a minute cost at most 15 USD a month, the plan included", () => {
  const beyond = billBeyondIncluded(times(ALONE, 200 * MESSAGES_A_MONTH));
  const usd = INCLUDED.planUsd + beyond.total;
  console.log(
    `200 queues with a message a minute: ${usd.toFixed(2)} USD a month, ${INCLUDED.planUsd} of it the plan`,
  );
  expect(usd).toBeLessThan(15);
});

it.each([
  [718, true],
  [719, false],
])("to stay awake for %i ms is cheaper than an alarm: %s", (awakeMs, isCheaper) => {
  const alarm = billOf({ ...NOTHING_USED, rowsWritten: 1, requests: 1 }).total;
  expect(billOf({ ...NOTHING_USED, awakeMs }).total < alarm).toBe(isCheaper);
});

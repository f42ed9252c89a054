import { expect, it } from "vitest";
import { Arrivals } from "./arrivals.ts";
import { COMPANY_TURNS, turns } from "./microtasks.ts";

/** Turns of the microtask queue until the promise resolves. */
async function turnsUntil(promise: Promise<void>): Promise<number> {
  let isDone = false;
  let count = 0;
  void promise.then(() => {
    isDone = true;
  });
  await turns(3 * COMPANY_TURNS, () => {
    if (!isDone) count += 1;
    return isDone;
  });
  return count;
}

it("waits for nobody where none is on its way", async () => {
  const arrivals = new Arrivals();
  const alone = await turnsUntil(arrivals.company());
  arrivals.expect()();
  expect(await turnsUntil(arrivals.company())).toBe(alone);
  expect(alone).toBeLessThan(5);
});

it("waits until the last one has arrived", async () => {
  const arrivals = new Arrivals();
  const [first, second] = [arrivals.expect(), arrivals.expect()];
  first();
  let hasArrived = false;
  void turns(10).then(() => {
    hasArrived = true;
    second();
  });
  await arrivals.company();
  expect(hasArrived).toBe(true);
});

it("counts nobody twice", async () => {
  const arrivals = new Arrivals();
  const [first, second] = [arrivals.expect(), arrivals.expect()];
  first();
  first();
  const waited = turnsUntil(arrivals.company());
  await turns(10);
  second();
  expect(await waited).toBeGreaterThanOrEqual(10);
});

it("does not wait for ever for one that never arrives", async () => {
  const arrivals = new Arrivals();
  arrivals.expect();
  const count = await turnsUntil(arrivals.company());
  expect(count).toBeGreaterThanOrEqual(COMPANY_TURNS);
  expect(count).toBeLessThan(COMPANY_TURNS + 5);
});

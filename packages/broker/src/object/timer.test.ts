import { expect, it } from "vitest";
import { Timer } from "./timer.ts";

function setUp() {
  const scheduled: { run: () => void; ms: number }[] = [];
  const rung: number[] = [];
  const clock = { nowMs: 1_000, isFrozen: false, now: () => clock.nowMs };
  const timer = new Timer(
    clock,
    (run, ms) => scheduled.push({ run, ms }),
    () => rung.push(clock.nowMs),
  );
  return { scheduled, rung, clock, timer };
}

it("the timer of those who wait rings at its moment, at once for one that has passed, and never early", () => {
  const { scheduled, rung, timer } = setUp();
  timer.set(1_000.4);
  timer.set(900);
  expect(scheduled.map(({ ms }) => ms)).toEqual([1, 0]);
  for (const { run } of scheduled) run();
  expect(rung).toEqual([1_000]);
});

it("the timer of those who wait is set once for many who wait as long, and again when it has rung", () => {
  const { scheduled, rung, clock, timer } = setUp();
  for (const atMs of [5_000, 5_000, 6_000]) timer.set(atMs);
  expect(scheduled).toHaveLength(1);
  clock.nowMs = 5_000;
  scheduled[0]?.run();
  timer.set(6_000);
  expect([rung, scheduled.length]).toEqual([[5_000], 2]);
});

it("the timer of those who wait is not set for what a frozen clock does not reach", () => {
  const { scheduled, clock, timer } = setUp();
  clock.isFrozen = true;
  timer.set(1_001);
  expect(scheduled).toEqual([]);
  timer.set(1_000);
  expect(scheduled).toHaveLength(1);
});

it("the timer of those who wait rings for the earlier one that was set later, and not again for the other", () => {
  const { scheduled, rung, timer } = setUp();
  timer.set(5_000);
  timer.set(2_000);
  expect(scheduled.map(({ ms }) => ms)).toEqual([4_000, 1_000]);
  scheduled[1]?.run();
  scheduled[0]?.run();
  expect(rung).toHaveLength(1);
});

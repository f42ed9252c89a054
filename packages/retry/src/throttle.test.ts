import fc from "fast-check";
import { expect, it } from "vitest";
import { changeThrottle, nextSlotMs, takeSlot, throttleOf } from "./throttle.ts";

/** Starts of deliveries that want to start at `wantedMs`, one after the other. */
function startsOf(perSecond: number, wantedMs: readonly number[], burst = 1): number[] {
  const throttle = throttleOf(perSecond, burst);
  let next = 0;
  let nowMs = 0;
  return wantedMs.map((wanted) => {
    nowMs = nextSlotMs(throttle, next, Math.max(nowMs, wanted));
    next = takeSlot(throttle, next, nowMs);
    return nowMs;
  });
}

/** The most starts in any second, which includes its first moment and not its last. */
function mostInASecond(starts: readonly number[]): number {
  return Math.max(...starts.map((from) => starts.filter((at) => at >= from && at < from + 1000).length));
}

it("maxReceivesPerSecond (spec sns-delivery 7) lets 25 messages go at 0, 100, ..., 2400 ms when it is 10 (A6)", () => {
  const wanted = Array<number>(25).fill(0);
  expect(startsOf(10, wanted)).toEqual(wanted.map((_, i) => 100 * i));
});

it("maxReceivesPerSecond (spec sns-delivery 7) never lets more than its number go in any second, and loses none of it", () => {
  const wishes = fc.array(fc.nat({ max: 3000 }), { minLength: 1, maxLength: 200 });
  const moment = fc.constantFrom(0, Date.UTC(2026, 10, 21), Date.UTC(2038, 0, 1));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1500 }), wishes, moment, (perSecond, wanted, startMs) => {
      const sorted = wanted.toSorted((a, b) => a - b).map((at) => startMs + at);
      expect(mostInASecond(startsOf(perSecond, sorted))).toBeLessThanOrEqual(perSecond);
    }),
  );
});

it.each([1, 3, 7, 10, 700, 1000, 1500])(
  "maxReceivesPerSecond (spec sns-delivery 7) lets %d go in each second while more wait",
  (perSecond) => {
    const startMs = Date.UTC(2026, 10, 21);
    const starts = startsOf(perSecond, Array<number>(5 * perSecond).fill(startMs));
    for (let second = 1; second <= 4; second++) {
      const until = starts.filter((at) => at < startMs + 1000 * second).length;
      // The interval is rounded up to 1/2048 ms: at most one of a thousand is late.
      expect(Math.abs(until - second * perSecond)).toBeLessThanOrEqual(Math.ceil(perSecond / 1000) * second);
    }
  },
);

it("maxReceivesPerSecond (spec sns-delivery 7) does not save up what was not used", () => {
  expect(startsOf(2, [0, 10_000, 10_000, 10_000])).toEqual([0, 10_000, 10_500, 11_000]);
});

it("maxReceivesPerSecond (spec sns-delivery 7) lets a burst go at once, and no more than one less than it above its number in a second", () => {
  const starts = startsOf(10, Array<number>(30).fill(5000), 10);
  expect(starts.slice(0, 12)).toEqual([...Array<number>(10).fill(5000), 5100, 5200]);
  expect(mostInASecond(starts)).toBe(19);
});

it("maxReceivesPerSecond (spec sns-delivery 7) refuses a slot that has not come", () => {
  const throttle = throttleOf(10);
  const next = takeSlot(throttle, 0, 1000);
  expect(() => takeSlot(throttle, next, 1099)).toThrow(new RangeError("the next slot is 1 ms away"));
  expect(takeSlot(throttle, next, 1100)).toBe(1200);
  expect(takeSlot(throttle, next, 1101)).toBe(1201);
});

it.each([0, -1, 1.5, Number.NaN])("maxReceivesPerSecond (spec sns-delivery 7) is no limit of %d", (count) => {
  const what = new RangeError(`${count} is no positive integer`);
  expect(() => throttleOf(count)).toThrow(what);
  expect(() => throttleOf(1, count)).toThrow(what);
});

it("maxReceivesPerSecond (spec sns-delivery 7) makes no delivery wait longer than a new limit does", () => {
  const slow = throttleOf(1);
  const next = takeSlot(slow, 0, 5000);
  expect(next).toBe(6000);
  expect(changeThrottle(throttleOf(10), next, 5000)).toBe(5100);
  expect(changeThrottle(slow, 5100, 5000)).toBe(5100);
});

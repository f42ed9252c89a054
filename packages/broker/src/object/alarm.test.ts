import { expect, it } from "vitest";
import { MovableClock } from "../platform/clock.ts";
import { Alarm } from "./alarm.ts";

/** An alarm at 1,000 ms of real time, on a clock that was moved. */
function alarmAhead(offsetMs = 0) {
  const written: number[] = [];
  const clock = new MovableClock({ now: () => 1_000 }, offsetMs);
  return { alarm: new Alarm(clock, (realMs) => written.push(realMs)), clock, written };
}

it("the alarm is written only when it rings earlier than the one that is set", () => {
  const { alarm, written } = alarmAhead();
  for (const atMs of [5_000, 5_000, 5_001, 4_999, 9_000]) alarm.set(atMs);
  expect(written).toEqual([5_000, 4_999]);
  expect(alarm.timesWritten).toBe(2);
});

it.each([
  [4_999, false],
  [5_000, true],
  [5_001, true],
])("the alarm rings by %i ms: %s", (atMs, isSo) => {
  const { alarm } = alarmAhead();
  expect(alarm.ringsBy(atMs)).toBe(false);
  alarm.set(5_000);
  expect(alarm.ringsBy(atMs)).toBe(isSo);
  alarm.clear();
  expect(alarm.ringsBy(atMs)).toBe(false);
});

it("the alarm is set anew after it has rung", () => {
  const { alarm, written } = alarmAhead();
  alarm.set(2_000);
  alarm.clear();
  alarm.set(3_000);
  expect(written).toEqual([2_000, 3_000]);
});

it("the alarm knows what an earlier epoch has set", () => {
  const { alarm, written } = alarmAhead();
  alarm.found(3_000);
  alarm.set(3_000);
  alarm.set(2_999);
  expect(written).toEqual([2_999]);
  alarm.found(null);
  alarm.set(8_000);
  expect(written).toEqual([2_999, 8_000]);
});

it("the alarm rings at the moment of real time at which a clock that was moved gets there", () => {
  const { alarm, clock, written } = alarmAhead(60_000);
  alarm.set(65_000);
  expect(written).toEqual([5_000]);
  clock.advance(1_000);
  alarm.clear();
  alarm.set(65_000);
  expect(written).toEqual([5_000, 4_000]);
});

it("the alarm is not set for what only an advance of a frozen clock brings", () => {
  const { alarm, clock, written } = alarmAhead();
  clock.freeze(1_000);
  alarm.set(1_001);
  expect(written).toEqual([]);
  alarm.set(1_000);
  expect(written).toEqual([1_000]);
});

it("the alarm rings at once for a moment that has passed", () => {
  const { alarm, written } = alarmAhead(60_000);
  alarm.set(1);
  expect(written).toEqual([1_000]);
});

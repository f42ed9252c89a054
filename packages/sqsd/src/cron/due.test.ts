import { expect, it } from "vitest";
import { CATCH_UP_MS_DEFAULT, type CatchUp, dueOf, ON_TIME_MS } from "./due.ts";
import { Schedule } from "./schedule.ts";

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 10, 21, 12);
const everyMinute = new Schedule("* * * * *");
const atNoon = new Schedule("0 12 * * *");
const all = (windowMs: number): CatchUp => ({ rule: "all", windowMs });
const none: CatchUp = { rule: "none", windowMs: 0 };
const one = (windowMs: number): CatchUp => ({ rule: "one", windowMs });
const minutes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => NOON + (from + i) * MINUTE);

it("runs that are due (spec sqsd 8.5, 8.6) are none before their time, and none twice", () => {
  const nothing = { made: [], leftOutMs: null };
  expect(dueOf(atNoon, NOON - MINUTE, NOON - 1)).toEqual(nothing);
  expect(dueOf(atNoon, NOON - MINUTE, NOON)).toEqual({ made: [NOON], leftOutMs: null });
  expect(dueOf(atNoon, NOON, NOON + 1)).toEqual(nothing);
});

it.each([
  ["unless something else is set", undefined, CATCH_UP_MS_DEFAULT],
  ["of one", one(90_000), 90_000],
  ["of all", all(90_000), 90_000],
  ["of none, which are on time", none, ON_TIME_MS],
])("runs that are due (spec sqsd 8.5, 8.6) are made up for within the window %s", (_, rule, windowMs) => {
  const madeAt = (lateMs: number) => dueOf(atNoon, NOON - MINUTE, NOON + lateMs, rule);
  expect(madeAt(windowMs - 1)).toEqual({ made: [NOON], leftOutMs: null });
  expect(madeAt(windowMs)).toEqual({ made: [], leftOutMs: NOON });
  expect(madeAt(windowMs + 1)).toEqual({ made: [], leftOutMs: NOON });
});

it("runs that are due (spec sqsd 8.5, 8.6) are made up for once, and what is left out is named", () => {
  const due = dueOf(everyMinute, NOON, NOON + 4 * MINUTE);
  expect(due).toEqual({ made: minutes(4, 4), leftOutMs: NOON + 3 * MINUTE });
});

it("runs that are due (spec sqsd 8.5, 8.6) are each made up for where that is asked for, as far as the window goes", () => {
  expect(dueOf(everyMinute, NOON, NOON + 4 * MINUTE, all(10 * MINUTE))).toEqual({
    made: minutes(1, 4),
    leftOutMs: null,
  });
  expect(dueOf(everyMinute, NOON, NOON + 9 * MINUTE, all(3 * MINUTE))).toEqual({
    made: minutes(7, 9),
    leftOutMs: NOON + 6 * MINUTE,
  });
  expect(dueOf(everyMinute, NOON, NOON + 9 * MINUTE - 1, all(3 * MINUTE))).toEqual({
    made: minutes(6, 8),
    leftOutMs: NOON + 5 * MINUTE,
  });
});

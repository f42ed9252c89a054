import fc from "fast-check";
import { expect, it } from "vitest";
import { type DayRule, Schedule, ScheduleError } from "./schedule.ts";

const at = (text: string) => Date.parse(`${text}Z`);
const text = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 16));
const next = (expression: string, after: string, days?: DayRule) =>
  text(new Schedule(expression, days).after(at(after)));

it.each([
  ["* * * * *", "2026-11-21T10:00", "2026-11-21T10:01"],
  ["*/15 * * * *", "2026-11-21T10:00", "2026-11-21T10:15"],
  ["0 23 * * *", "2026-11-21T23:00", "2026-11-22T23:00"],
  ["0 */12 * * *", "2026-11-21T10:00", "2026-11-21T12:00"],
  ["5-10/5 1,3 * * *", "2026-11-21T01:05", "2026-11-21T01:10"],
  ["0 0 1 jan *", "2026-11-21T10:00", "2027-01-01T00:00"],
  ["0 0 1 DEC *", "2026-11-21T10:00", "2026-12-01T00:00"],
  ["0 0 * * 0", "2026-11-21T10:00", "2026-11-22T00:00"],
  ["0 0 * * 7", "2026-11-21T10:00", "2026-11-22T00:00"],
  ["0 0 * * Sun", "2026-11-21T10:00", "2026-11-22T00:00"],
  ["0 0 * * mon-fri", "2026-11-21T10:00", "2026-11-23T00:00"],
  ["0 0 29 2 *", "2026-11-21T10:00", "2028-02-29T00:00"],
  [" 0  0 * * * ", "2026-11-21T10:00", "2026-11-22T00:00"],
  ["0 5 * * * 2027", "2026-11-21T10:00", "2026-11-22T05:00"],
  ["*/60 * * * *", "2026-11-21T10:00", "2026-11-21T11:00"],
  ["*/59 * * * *", "2026-11-21T10:00", "2026-11-21T10:59"],
  ["20-40/90,50 * * * *", "2026-11-21T10:20", "2026-11-21T10:50"],
  ["0 */24 * * *", "2026-11-21T10:00", "2026-11-22T00:00"],
  ["0 0 */32 * *", "2026-11-21T10:00", "2026-12-01T00:00"],
  ["0 0 1 */13 *", "2026-11-21T10:00", "2027-01-01T00:00"],
  ["0 0 1 mar-jun/99999999999999999999 *", "2026-11-21T10:00", "2027-03-01T00:00"],
  ["0 0 * * */8", "2026-11-21T10:00", "2026-11-22T00:00"],
])("a cron expression (spec sqsd 8.2) %s after %s is %s, in UTC", (expression, after, expected) => {
  expect(next(expression, after)).toBe(expected);
});

it("a cron expression (spec sqsd 8.2) takes a day of the month or of the week where both are given; both of them where that is asked for", () => {
  expect(next("0 12 13 * 5", "2026-11-21T00:00")).toBe("2026-11-27T12:00");
  expect(next("0 12 13 * 5", "2026-11-21T00:00", "and")).toBe("2027-08-13T12:00");
});

it.each([
  "",
  "* * * *",
  "* * * * * * *",
  "60 * * * *",
  "* 24 * * *",
  "* * 0 * *",
  "* * 32 * *",
  "* * * 0 *",
  "* * * 13 *",
  "* * * * 8",
  "5/15 * * * *",
  "*/0 * * * *",
  "*/ * * * *",
  "10-5 * * * *",
  "-1 * * * *",
  "1.5 * * * *",
  "a * * * *",
  "1,,2 * * * *",
  "* * L * *",
  "* * 15W * *",
  "* * ? * *",
  "* * * * 5#2",
  "* * * foo *",
  "* * * * monday",
  "@daily",
  "0 0 30 2 *",
])("a cron expression (spec sqsd 8.2) %s is refused", (expression) => {
  expect(() => new Schedule(expression)).toThrow(ScheduleError);
});

it("a cron expression (spec sqsd 8.2) says which field is wrong", () => {
  expect(() => new Schedule("0 24 * * *")).toThrow('"24" is no hour: *, 0 to 23');
  expect(() => new Schedule("0 0 * * monday")).toThrow("or sun to sat");
});

it("a cron expression (spec sqsd 8.2) goes back to where it comes from: what is next has not been before", () => {
  const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) });
  const expressions = fc.constantFrom("* * * * *", "*/7 3 * * *", "0 0 1 * 1", "59 23 31 12 *", "0 0 29 2 *");
  fc.assert(
    fc.property(expressions, moment, (expression, ms) => {
      const schedule = new Schedule(expression);
      const nextMs = schedule.after(ms);
      const lastMs = schedule.until(ms);
      if (nextMs === null || lastMs === null) throw new Error("it comes again and again");
      expect(nextMs).toBeGreaterThan(ms);
      expect(lastMs).toBeLessThanOrEqual(ms);
      expect(schedule.until(nextMs)).toBe(nextMs);
      expect(schedule.until(nextMs - 1)).toBe(lastMs);
      expect(schedule.after(lastMs)).toBe(nextMs);
    }),
  );
});

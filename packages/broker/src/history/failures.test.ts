import fc from "fast-check";
import { expect, it } from "vitest";
import { Failures } from "./failures.ts";
import type { StoredEvent } from "./journal/event.ts";

const failed = (error: string, ...at: number[]): StoredEvent => ({
  n: 1,
  kind: "failed",
  t: 1,
  count: 1,
  at,
  error,
});

it("only failures and retries that have a reason are taken, and none of an absent consumer", () => {
  const failures = new Failures([
    failed("a", 1, 0, 5),
    { ...failed("b", 1, 0, 1), kind: "retried" },
    { ...failed("x", 1, 1, 2), kind: "retried", delay: "absence" },
    { ...failed("x", 1, 2, 3), kind: "deadLettered" },
    { n: 1, kind: "retried", t: 1, count: 1, at: [1, 3, 4] },
    { n: 1, kind: "failed", t: 1, count: 1, error: "x" },
  ]);
  expect([0, 1, 2, 3, 4, 5].map((index) => failures.errorAt(1, index))).toEqual([
    ...["b", "a", "a", "a", "a", null],
  ]);
});

it("the last event that covers a message has its error, in whatever order messages are asked for", () => {
  const range = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(8), fc.nat(4));
  const events = fc.array(fc.tuple(fc.stringMatching(/^[a-c]$/), fc.array(range, { maxLength: 3 })));
  const places = fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.nat(12)));
  fc.assert(
    fc.property(events, places, (all, asked) => {
      const stored = all.map(([error, ranges]) =>
        failed(error, ...ranges.flatMap(([segment, from, length]) => [segment, from, from + length])),
      );
      const failures = new Failures(stored);
      for (const [segment, index] of asked) {
        const last = all.findLast(([, ranges]) =>
          ranges.some(([at, from, length]) => at === segment && index >= from && index < from + length),
        );
        expect(failures.errorAt(segment, index)).toBe(last?.[0] ?? null);
      }
    }),
  );
});

it("the error before an attempt is one of an earlier delivery, by the attempt of the message's own range", () => {
  const failures = new Failures([
    { ...failed("one", 1, 0, 3), attempt: 1 },
    { ...failed("two", 1, 0, 2, 1, 2, 3), attempt: 2, attempts: [2, 5] },
    { ...failed("expired", 2, 0, 1), kind: "retried" },
  ]);
  const before = (attempt: number, index: number, segment = 1) =>
    failures.errorBefore(attempt, segment, index);
  expect([1, 2, 3].map((attempt) => before(attempt, 1))).toEqual([null, "one", "two"]);
  expect([5, 6].map((attempt) => before(attempt, 2))).toEqual(["one", "two"]);
  expect([before(9, 3), before(1, 0, 2), before(9, 0, 3)]).toEqual([null, "expired", null]);
});

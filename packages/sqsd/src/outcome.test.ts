import { describe, expect, it } from "vitest";
import { actionAfter, failureLine, type PostOutcome } from "./outcome.ts";

const answered = (status: number): PostOutcome => ({ kind: "answered", status });
const FAILURES: PostOutcome[] = [
  ...[100, 201, 202, 204, 206, 301, 302, 400, 404, 429, 500, 503, 504].map(answered),
  { kind: "unreachable", reason: "refused" },
  { kind: "closed", reason: "closed" },
  { kind: "timedOut", reason: "late" },
];

describe("after a POST (spec sqsd 3.1)", () => {
  it("exactly 200 deletes the message, late or not", () => {
    for (const isVisibleAgain of [false, true]) {
      expect(actionAfter(answered(200), 5, isVisibleAgain)).toEqual({ kind: "delete" });
    }
  });

  it.each(FAILURES)("everything else is a failure: $kind $status", (outcome) => {
    expect(actionAfter(outcome, null, false)).toEqual({ kind: "leave" });
    expect(actionAfter(outcome, 2, false)).toEqual({ kind: "changeVisibility", seconds: 2 });
    expect(actionAfter(outcome, 0, false)).toEqual({ kind: "changeVisibility", seconds: 0 });
    expect(actionAfter(outcome, 2, true)).toEqual({ kind: "leave" });
  });
});

it("a failure is written as the daemon writes it", () => {
  expect(failureLine("abc", 2, answered(504), 60_001)).toEqual({
    tag: "http-err",
    text: "abc (2) 504 - 60.001",
  });
  expect(failureLine("abc", 1, { kind: "timedOut", reason: "no answer" }, 300_003)).toEqual({
    tag: "socket-err",
    text: "abc (1) no answer - 300.003",
  });
});

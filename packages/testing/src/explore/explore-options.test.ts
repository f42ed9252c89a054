import { expect, it } from "vitest";
import { refuseUnusableExploration } from "./explore-options.ts";

const SPEC = { runtime: {}, act: () => {}, holds: () => true };
const refuse = (more: object) => () => refuseUnusableExploration({ ...SPEC, ...more } as never);
const fault = { kind: "duplicate", message: 1, attempt: 1 };

it.each([-1, 0, 1.5, Number.NaN, Infinity, "5", null])("explore refuses %s histories", (histories) =>
  expect(refuse({ histories })).toThrow("histories: a whole number, 1 or more."),
);

it.each([
  [{ timeoutMs: Number.NaN }, "timeoutMs: a number of ms above 0."],
  [{ timeoutMs: 0 }, "timeoutMs: a number of ms above 0."],
  [{ timeoutMs: "4s" }, "timeoutMs: a number of ms above 0."],
  [{ seed: Number.NaN }, "seed: a whole number, 0 or more."],
  [{ choices: [0, -1] }, "choices: a whole number, 0 or more."],
  [{ choices: 3 }, "choices: a list."],
  [{ history: fault }, "history: a list."],
  [{ act: undefined }, "act: a function."],
  [{ holds: true }, "holds: a function."],
  [{ historys: 2 }, 'explore: there is no "historys". There are "runtime", "act"'],
])("explore refuses %o", (more, message) => expect(refuse(more)).toThrow(message));

it.each([
  [{ kind: "dupliacte" }, 'history[1]: there is no kind "dupliacte". There are "duplicate", "reorder"'],
  [{ kind: undefined }, "history[1]: there is no kind undefined."],
  [{ mesage: 1 }, 'history[1]: there is no "mesage".'],
  [{ message: 0 }, "history[1].message: a whole number, 1 or more."],
  [{ message: undefined }, "history[1].message: a whole number, 1 or more."],
  [{ attempt: 1.5 }, "history[1].attempt: a whole number, 1 or more."],
  [{ kind: "endAfter", arg: 0 }, "history[1].arg: a whole number, 1 or more."],
  [{ kind: "lateRetry", arg: -1 }, "history[1].arg: seconds, 0 or more."],
])("explore refuses a fault with %o", (wrong, message) =>
  expect(refuse({ history: [fault, { ...fault, ...wrong }] })).toThrow(message),
);

it("explore takes what its report prints, and a time without end", () => {
  const history = [fault, { kind: "endAfter", message: 2, attempt: 3, arg: 4 }];
  expect(refuse({ seed: 0, choices: [0, 2], history, histories: 1, timeoutMs: Infinity })).not.toThrow();
  expect(refuse({ history: [], choices: [], histories: undefined })).not.toThrow();
});

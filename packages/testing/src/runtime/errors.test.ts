import { describe, expect, it } from "vitest";
import type { HappenedEntry } from "../wire.ts";
import { deliveryError, errorOf, failuresText, withAbsolutePlaces } from "./errors.ts";

const AT = "\n    at queue (file:///src/index.ts:7:3)";

describe("errorOf", () => {
  it.each([
    [`TypeError: no address${AT}`, "TypeError", "no address"],
    [`Error: two\nlines: of it${AT}`, "Error", "two\nlines: of it"],
    [`Error${AT}`, "Error", ""],
    [`not an error's name: at all${AT}`, "Error", "not an error's name: at all"],
    ["a thrown text: Error", "Error", "a thrown text: Error"],
  ])("gives %j its name and its own message", (text, name, message) => {
    expect(errorOf(text)).toMatchObject({ name, message });
  });

  it("keeps the stack", () => {
    const text = `TypeError: no address${AT}`;
    expect(errorOf(text).stack).toBe(text);
  });
});

it.each([
  ["a (src/pay.ts:1:2)", "a (/shop/src/pay.ts:1:2)"],
  ["async src/$&.ts:1:2", "async /shop/src/$&.ts:1:2"],
  ["a (../other/pay.ts:1:2)", "a (/other/pay.ts:1:2)"],
  ["a (/shop/src/pay.ts:1:2)", "a (/shop/src/pay.ts:1:2)"],
  ["a (file:///shop/src/pay.ts:1:2)", "a (file:///shop/src/pay.ts:1:2)"],
  ["a (sluice:consumer/src/a.ts:1:2)", "a (sluice:consumer/src/a.ts:1:2)"],
])("the place of a frame, %j, is absolute again: %j", (frame, absolute) => {
  const around = (one: string) => `Error: src/pay.ts:1:2\n    at ${one}\nCaused by: Error: b`;
  expect(withAbsolutePlaces(around(frame), "/shop")).toBe(around(absolute));
});

describe("the text of several failures", () => {
  const errors = [1, 2, 3, 4, 5].map((n) => {
    const entry: HappenedEntry = { kind: "failed", n, queue: "mails", atMs: 0, ids: [], by: "mailer" };
    return deliveryError({ ...entry, error: `RangeError: mail ${n}${AT}` });
  });

  it("names their places, and the first errors", () => {
    expect(errors[0]).toMatchObject({ queue: "mails", consumer: "mailer", message: "mail 1" });
    expect(failuresText(errors)).toBe(
      "5 deliveries have failed:\n" +
        '  queue "mails", consumer "mailer": RangeError: mail 1\n' +
        '  queue "mails", consumer "mailer": RangeError: mail 2\n' +
        '  queue "mails", consumer "mailer": RangeError: mail 3\n' +
        "  and 2 more",
    );
    expect(failuresText(errors.slice(0, 2))).not.toContain("more");
  });
});

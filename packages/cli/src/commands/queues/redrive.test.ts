import { expect, it } from "vitest";
import { targetOf } from "./redrive.ts";

it.each([
  [null, 1, "where it came from"],
  [null, 2, "where they came from"],
  [null, 0, "where they came from"],
  [null, undefined, "where they came from"],
  ["orders", 1, "orders"],
])("a move to %j of %j messages goes to %j", (to, messages, words) => {
  expect(targetOf(to, messages)).toBe(words);
});

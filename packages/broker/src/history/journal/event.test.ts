import fc from "fast-check";
import { expect, it } from "vitest";
import { beginningOf, ERROR_BEGINNING_MAX } from "./event.ts";

const PLACE = " (src/pay.ts:15:36)";

it.each([-1, 0, 1])("the beginning of an error of %i more than the limit keeps its place", (more) => {
  const text = "x".repeat(ERROR_BEGINNING_MAX - PLACE.length + more);
  const kept = (more > 0 ? `${text.slice(0, ERROR_BEGINNING_MAX - PLACE.length - 1)}…` : text) + PLACE;
  expect(beginningOf(`${text}\n    at pay (src/pay.ts:15:36)`)).toBe(kept);
  expect(beginningOf(`${text}${PLACE}`)).toBe(kept);
});

it("the beginning of any error is one line within the limit, and its own beginning", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 500, unit: "binary" }), (text) => {
      const beginning = beginningOf(text);
      expect(beginning.length).toBeLessThanOrEqual(ERROR_BEGINNING_MAX);
      expect(beginning).not.toContain("\n");
      expect(beginningOf(beginning)).toBe(beginning);
    }),
  );
});

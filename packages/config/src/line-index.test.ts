import { expect, test } from "vitest";
import { LineIndex } from "./line-index.ts";

test("an offset lies on the line after as many line ends as stand before it", () => {
  const index = new LineIndex("a\nbc\r\n\nd");
  const lines = Array.from("a\nbc\r\n\nd", (_, offset) => index.lineAt(offset));
  expect(lines).toEqual([1, 1, 2, 2, 2, 2, 3, 4]);
});

test("the end of a text lies on its last line", () => {
  expect(new LineIndex("").lineAt(0)).toBe(1);
  expect(new LineIndex("a\n").lineAt(2)).toBe(2);
});

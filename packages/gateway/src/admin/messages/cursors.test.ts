import { expect, it } from "vitest";
import { checkedCursor, countsAnew } from "./look-routes.ts";

it.each([
  ["4294967297-3-17", "4294967297-3-0"],
  ["5-3-17_b_e40_6-0-1", "5-3-0_b_e0_6-0-0"],
  ["b", "b"],
  ["b600_5-3-17_b7", "b_5-3-0_b"],
])("a cursor %s is taken, and counts anew as %s", (cursor, anew) => {
  expect(checkedCursor(cursor)).toBe(cursor);
  expect(countsAnew(cursor)).toBe(anew);
});

it.each(["", "x", "5-3", "5-3-17_", "_b", "e", "5-3-17,b", "b_5_b", "bb", Array(101).fill("b").join("_")])(
  "a cursor %j is none",
  (cursor) => expect(() => checkedCursor(cursor)).toThrow("The cursor must be one"),
);

it("a cursor has a place for each of the most shards", () => {
  const cursor = Array(100).fill("4294967297-3-17").join("_");
  expect(checkedCursor(cursor)).toBe(cursor);
});

import { expect, it } from "vitest";
import { facts, table } from "./table.ts";
import { distance } from "./words.ts";

it.each([
  ["2026-01-01T00:00:10Z", "in 10 s"],
  ["2026-01-01T00:00:00.400Z", "now"],
  ["2025-12-31T23:59:00Z", "1 min ago"],
])("%s is %s", (at, text) => {
  expect(distance(at, "2026-01-01T00:00:00Z")).toBe(text);
});

it("lays out rows and facts without spaces at the ends of lines", () => {
  expect(
    table(
      ["a", "long"],
      [
        ["xyz", ""],
        ["x", "y"],
      ],
    ),
  ).toBe("a    long\nxyz\nx    y");
  expect(
    facts([
      ["one", "1"],
      ["none", null],
      ["three", "3\n4"],
    ]),
  ).toBe("one    1\nthree  3\n       4");
});

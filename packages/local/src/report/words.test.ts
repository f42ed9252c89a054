import { expect, it } from "vitest";
import { facts, table } from "./table.ts";
import { distance, printable } from "./words.ts";

it.each([
  ["2026-01-01T00:00:10Z", "in 10 s"],
  ["2026-01-01T00:00:00.400Z", "now"],
  ["2025-12-31T23:59:00Z", "1 min ago"],
])("%s is %s", (at, text) => {
  expect(distance(at, "2026-01-01T00:00:00Z")).toBe(text);
});

it("shows control characters, and leaves line ends and tabs", () => {
  expect(printable("a\u001b[31m\u009b\u0000\r\n\tü")).toBe("a\\x1b[31m\\x9b\\x00\\x0d\n\tü");
});

it("shows controls that turn the direction of a text, and characters of no width", () => {
  expect(printable("https://a\u202egro.b\u200b\u2066\ufeff\u{e0041}")).toBe(
    "https://a\\u{202e}gro.b\\u{200b}\\u{2066}\\u{feff}\\u{e0041}",
  );
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

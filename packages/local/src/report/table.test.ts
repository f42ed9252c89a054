import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CELL_CHARACTERS_MIN, facts, table } from "./table.ts";

const TITLES = ["queue", "state", "body"];
const ROWS = [
  ["orders", "ready", "a body of some words that is long"],
  ["a-much-longer-name", "leased", "short"],
];
/** Width that the table has by itself: 18, 6 and 33 characters, and two gaps. */
const WHOLE = 61;

describe("a table", () => {
  it("is whole where there is no terminal, and where it fits", () => {
    const whole = [
      "queue               state   body",
      "orders              ready   a body of some words that is long",
      "a-much-longer-name  leased  short",
    ].join("\n");
    expect(table(TITLES, ROWS)).toBe(whole);
    expect(table(TITLES, ROWS, { columns: WHOLE + 1 })).toBe(whole);
    expect(table(TITLES, ROWS, { columns: WHOLE })).toBe(whole);
  });

  it.each([
    [WHOLE - 1, "a body of some words that is…"],
    [WHOLE - 4, "a body of some words that is…"],
    [WHOLE - 5, "a body of some words that…"],
  ])("in a terminal of %i characters cuts its longest column between words", (columns, body) => {
    expect(table(TITLES, ROWS, { columns }).split("\n")[1]).toBe(`orders              ready   ${body}`);
  });

  it("cuts within a word where that would leave little", () => {
    const cell = "a wordwithoutanyspaceinit";
    expect(table(["a", "b"], [["x", cell]], { columns: 20 })).toBe("a  b\nx  a wordwithoutany…");
  });

  it("never cuts the first column, nor halves a character", () => {
    const rows = [["0123456789abcdef", "😀".repeat(20)]];
    const text = table(["id", "body"], rows, { columns: 31 });
    expect(text.split("\n")[1]).toBe("0123456789abcdef  😀😀😀😀😀😀…");
    expect(text.isWellFormed()).toBe(true);
  });

  it("shows the last columns below each row where they would be cut too short", () => {
    const least = 16 + 2 + CELL_CHARACTERS_MIN;
    const rows = [
      ["0123456789abcdef", "some words that are long"],
      ["1", "x"],
    ];
    expect(table(["id", "body"], rows, { columns: least }).split("\n")[1]).toMatch(
      /^0123456789abcdef {2}\S.*…$/,
    );
    expect(table(["id", "body"], rows, { columns: least - 1 })).toBe(
      ["id", "0123456789abcdef", "  body  some words that…", "1", "  body  x"].join("\n"),
    );
    expect(table(TITLES, ROWS, { columns: 24 }).split("\n").slice(3)).toEqual([
      "  body   a body of some…",
      "a-much-longer-name",
      "  state  leased",
      "  body   short",
    ]);
  });

  it("colours cells without a change of their places", () => {
    const rows = [["orders", { text: "failing", colour: "red" }, "x"] as const];
    const paint = (colour: string, text: string) => `<${colour}>${text}</${colour}>`;
    expect(table(TITLES, rows)).toBe("queue   state    body\norders  failing  x");
    expect(table(TITLES, rows, { paint })).toBe("queue   state    body\norders  <red>failing</red>  x");
  });

  it("is never wider than the terminal, but for its first column", () => {
    const cell = fc.string({ unit: fc.constantFrom("a", "b", " ", "-"), maxLength: 40 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell)),
        fc.integer({ min: 48, max: 130 }),
        (rows, columns) => {
          const lines = table(TITLES, rows, { columns }).split("\n");
          expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });
});

it("facts break long values between words in a terminal, and keep lines and words", () => {
  const entries = [["why", "one two three\nfour abcdefghijklmnop five"]] as const;
  expect(facts(entries)).toBe("why  one two three\n     four abcdefghijklmnop five");
  expect(facts(entries, { columns: 15 })).toBe(
    "why  one two\n     three\n     four\n     abcdefghijklmnop\n     five",
  );
  expect(facts(entries, { columns: 18 })).toBe(
    "why  one two three\n     four\n     abcdefghijklmnop\n     five",
  );
});

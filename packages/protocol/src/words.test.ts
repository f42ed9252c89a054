import { expect, it } from "vitest";
import { missingLines, plural, size, span } from "./words.ts";

it.each([
  [999, "999 B"],
  [1_000, "1.0 kB"],
  [999_949, "999.9 kB"],
  [1_000_000, "1.0 MB"],
])("%i bytes are %s", (bytes, text) => expect(size(bytes)).toBe(text));

it.each([
  [-5_000, "0 s"],
  [0, "0 s"],
  [59_499, "59 s"],
  [60_000, "1 min"],
  [3_599_000, "59 min"],
  [3_600_000, "1 h"],
  [86_399_000, "23 h"],
  [86_400_000, "1 d"],
])("a span of %i ms is %s", (ms, text) => expect(span(ms)).toBe(text));

it("one is counted in the singular, and thousands with a comma", () => {
  expect([plural(1, "message"), plural(2_000, "message")]).toEqual(["1 message", "2,000 messages"]);
});

it("missing lines are said with why, and nothing is said where none is missing", () => {
  expect(missingLines({ leftOut: 0, mixed: 0 })).toEqual([]);
  expect(missingLines({ leftOut: 1, mixed: 2_000 })).toEqual([
    "Left out: 1 line, since too much was printed.",
    expect.stringMatching(/^Left out: 2,000 lines, since other deliveries ran too\. .*nodejs_als/),
  ]);
});

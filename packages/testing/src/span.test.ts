import { expect, it } from "vitest";
import type { Span } from "./api.ts";
import { msOf } from "./span.ts";

it.each<[Span, number]>([
  [0, 0],
  [1.5, 1_500],
  ["90s", 90_000],
  ["5m", 300_000],
  ["12h", 43_200_000],
  ["0.5d", 43_200_000],
])("%s is %d ms", (span, ms) => expect(msOf(span)).toBe(ms));

it.each(["12", "h", "1w", "-1s", "", "1e3s", -1, Number.NaN, Infinity])(
  "the duration %s is refused",
  (span) => {
    expect(() => msOf(span as Span)).toThrow(TypeError);
  },
);

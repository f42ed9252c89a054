import { describe, expect, it } from "vitest";
import { bodyOf, tagOf } from "./body.ts";

describe("a body", () => {
  it.each([0, 1, 2, 3, 63, 64, 65, 1_000, 127_000])(
    "of %i bytes has that size, or that of its number",
    (bytes) => {
      expect(bodyOf(7, bytes)).toHaveLength(Math.max(2, bytes));
    },
  );

  it("names its message", () => {
    expect([0, 9, 12_345].map((tag) => tagOf(bodyOf(tag, 50)))).toEqual([0, 9, 12_345]);
    expect(tagOf("no number")).toBeNull();
  });

  it("differs from that of another message", () => {
    const bodies = new Set(Array.from({ length: 500 }, (_, tag) => bodyOf(tag, 100).split(":")[1]));
    expect(bodies.size).toBeGreaterThan(100);
  });
});

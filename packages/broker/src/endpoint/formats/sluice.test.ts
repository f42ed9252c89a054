import { describe, expect, it } from "vitest";
import { secondsOf } from "./sluice.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

describe("Retry-After", () => {
  it.each([
    ["0", 0],
    ["30", 30],
    [" 30 ", 30],
    ["86400", 86_400],
    ["86401", 86_400],
    ["99999999999999999999", 86_400],
    ["Sat, 21 Nov 2026 12:00:30 GMT", 30],
    ["Sat, 21 Nov 2026 11:59:00 GMT", 0],
    ["Mon, 23 Nov 2026 12:00:00 GMT", 86_400],
  ])("Retry-After %j is %i s", (text, seconds) => {
    expect(secondsOf(text, NOW_MS)).toBe(seconds);
  });

  it.each([null, "", "soon", "-1", "1.5", "1e3", "2026-11-21T12:00:30Z", "Sat, 21 Foo 2026 12:00:30 GMT"])(
    "%s says nothing",
    (text) => {
      expect(secondsOf(text, NOW_MS)).toBeNull();
    },
  );
});

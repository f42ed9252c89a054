import { describe, expect, it } from "vitest";
import { MovableClock, systemClock } from "./clock.ts";

describe("systemClock", () => {
  it("tells the time", () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });
});

describe("MovableClock", () => {
  it("is ahead of its base by what it was moved, and goes on with it", () => {
    let base = 1_000;
    const clock = new MovableClock({ now: () => base }, 50);
    expect(clock.now()).toBe(1_050);
    clock.advance(200);
    clock.advance(0);
    base = 1_001;
    expect(clock.now()).toBe(1_251);
    expect(clock.offsetMs).toBe(250);
  });

  it.each([-1, NaN, Infinity])("does not move by %d ms", (ms) => {
    const clock = new MovableClock({ now: () => 0 }, 5);
    expect(() => clock.advance(ms)).toThrow(RangeError);
    expect(clock.offsetMs).toBe(5);
  });
});

import { describe, expect, it } from "vitest";
import { MovableClock, systemClock } from "./clock.ts";

it("systemClock tells the time", () => {
  const before = Date.now();
  const now = systemClock.now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
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

  it("stands from the beginning where a test wants it, also before its base", () => {
    let base = 1_000;
    const clock = MovableClock.standing({ now: () => base }, 200);
    base = 1_500;
    clock.goBy({ offsetMs: 0, frozenAtMs: 200 });
    expect([clock.now(), clock.isFrozen]).toEqual([200, true]);
    clock.goBy({ offsetMs: 0, frozenAtMs: 300 });
    expect([clock.now(), clock.realMsOf(300), clock.realMsOf(301)]).toEqual([300, 1_500, null]);
  });

  it.each([-1, NaN, Infinity])("does not move by %d ms", (ms) => {
    const clock = new MovableClock({ now: () => 0 }, 5);
    expect(() => clock.advance(ms)).toThrow(RangeError);
    expect(clock.offsetMs).toBe(5);
  });

  it("stands while it is frozen, moves by what it is advanced, and goes on from there", () => {
    let base = 1_000;
    const clock = new MovableClock({ now: () => base }, 0);
    clock.freeze(1_000);
    base = 1_500;
    expect([clock.now(), clock.isFrozen, clock.offsetMs]).toEqual([1_000, true, 0]);
    clock.advance(10_000);
    expect([clock.now(), clock.offsetMs]).toEqual([11_000, 9_500]);
    clock.follow();
    base = 1_600;
    expect([clock.now(), clock.isFrozen, clock.offsetMs]).toEqual([11_100, false, 9_500]);
    expect(clock.movedMs).toBe(10_000);
  });

  it("goes on with real time that has overtaken it", () => {
    let base = 1_000;
    const clock = new MovableClock({ now: () => base }, 100);
    clock.freeze(0);
    expect(clock.now()).toBe(1_100);
    base = 5_000;
    clock.follow();
    expect([clock.now(), clock.offsetMs, clock.movedMs]).toEqual([5_000, 0, 3_900]);
  });

  it("goes by a setting, never backwards", () => {
    let base = 1_000;
    const clock = new MovableClock({ now: () => base }, 0);
    clock.goBy({ offsetMs: 500, frozenAtMs: null });
    clock.goBy({ offsetMs: 500, frozenAtMs: null });
    clock.goBy({ offsetMs: 0, frozenAtMs: null });
    expect(clock.setting).toEqual({ offsetMs: 500, frozenAtMs: null });
    clock.goBy({ offsetMs: 500, frozenAtMs: 1_400 });
    expect(clock.setting).toEqual({ offsetMs: 500, frozenAtMs: 1_500 });
    clock.goBy({ offsetMs: 500, frozenAtMs: 2_000 });
    base = 1_100;
    expect(clock.setting).toEqual({ offsetMs: 900, frozenAtMs: 2_000 });
    clock.goBy({ offsetMs: 1_200, frozenAtMs: null });
    expect(clock.setting).toEqual({ offsetMs: 1_200, frozenAtMs: null });
  });

  it.each([
    { offsetMs: 500, frozenAtMs: null },
    { offsetMs: 500, frozenAtMs: 1_500 },
  ])("takes the setting %o over without a move, and is moved from there", (setting) => {
    const base = { now: () => 1_000 };
    const clock = new MovableClock(base, 0);
    clock.takeOver(setting);
    expect([clock.setting, clock.movedMs]).toEqual([setting, 0]);
    clock.advance(200);
    clock.takeOver(setting);
    expect([clock.now(), clock.movedMs]).toEqual([1_700, 200]);
    expect(MovableClock.by(base, clock.setting).setting).toEqual(clock.setting);
  });

  it("is at a setting that it goes by, whatever a clock that stands is ahead by", () => {
    let base = 1_000;
    const clock = new MovableClock({ now: () => base }, 500);
    expect(clock.isAt({ offsetMs: 500, frozenAtMs: null })).toBe(true);
    expect(clock.isAt({ offsetMs: 499, frozenAtMs: null })).toBe(false);
    expect(clock.isAt({ offsetMs: 500, frozenAtMs: 1_500 })).toBe(false);
    clock.freeze(1_500);
    base = 1_200;
    expect(clock.isAt({ offsetMs: 500, frozenAtMs: 1_500 })).toBe(true);
    expect(clock.isAt({ offsetMs: 500, frozenAtMs: 1_501 })).toBe(false);
    expect(clock.isAt({ offsetMs: 300, frozenAtMs: null })).toBe(false);
  });

  it("knows when its moments come in real time, and which only an advance brings", () => {
    const clock = new MovableClock({ now: () => 1_000 }, 100);
    expect([1_050, 1_100, 1_200].map((atMs) => clock.realMsOf(atMs))).toEqual([1_000, 1_000, 1_100]);
    clock.freeze(1_100);
    expect([1_050, 1_100, 1_101].map((atMs) => clock.realMsOf(atMs))).toEqual([1_000, 1_000, null]);
  });
});

import { describe, expect, it } from "vitest";
import { TOLD_CLOCK_MS, ToldClock } from "./told-clock.ts";

const DAY_MS = 86_400_000;

function toldClock(behindMs = 0) {
  let systemMs = 1_000_000_000_000;
  const startMs = systemMs - behindMs;
  const clock = new ToldClock(() => systemMs, behindMs);
  return {
    clock,
    pass: (ms: number) => {
      systemMs += ms;
    },
    sinceStart: () => clock.now() - startMs,
    systemMs: () => systemMs,
  };
}

describe("a clock that gets reports", () => {
  it("follows the system's without a report", () => {
    const { pass, sinceStart } = toldClock();
    pass(DAY_MS);
    expect(sinceStart()).toBe(DAY_MS);
  });

  it("is behind at its start by the given difference", () => {
    const { clock, systemMs } = toldClock(DAY_MS);
    expect(clock.now()).toBe(systemMs() - DAY_MS);
  });

  it("follows a system's clock that is set only up to its bound, and goes on from there", () => {
    const { clock, pass, sinceStart } = toldClock();
    clock.told(0);
    pass(TOLD_CLOCK_MS);
    expect(sinceStart()).toBe(TOLD_CLOCK_MS);
    expect(clock.told(0)).toBe(false);
    pass(1_000);
    expect(sinceStart()).toBe(TOLD_CLOCK_MS + 1_000);
    pass(5 * DAY_MS);
    expect(sinceStart()).toBe(2 * TOLD_CLOCK_MS);
    expect(clock.told(5 * DAY_MS)).toBe(true);
    pass(TOLD_CLOCK_MS);
    expect(sinceStart()).toBe(2 * TOLD_CLOCK_MS + 1_000);
  });

  it("stands while the system's has gone back without a report", () => {
    const { clock, pass, sinceStart } = toldClock();
    clock.told(0);
    pass(1_000);
    sinceStart();
    pass(-DAY_MS);
    expect(sinceStart()).toBe(1_000);
    expect(clock.told(-DAY_MS)).toBe(true);
    pass(10);
    expect(sinceStart()).toBe(1_010);
  });

  it("sets alarms by the system's clock, and not too late for a clock that catches up", () => {
    const { clock, pass, systemMs } = toldClock();
    expect(clock.alarmMsOf(clock.now() + DAY_MS)).toBe(systemMs() + DAY_MS);
    pass(5 * DAY_MS);
    clock.told(5 * DAY_MS);
    expect(clock.alarmMsOf(clock.now() + 1_100)).toBe(systemMs() + 1_000);
    expect(clock.alarmMsOf(clock.now() - 1)).toBe(systemMs());
    expect(clock.momentOf(systemMs())).toBe(clock.now());
  });

  it("sets alarms a second ahead while it stands, but for what is due", () => {
    const { clock, pass, systemMs } = toldClock();
    clock.told(0);
    pass(TOLD_CLOCK_MS + 60_000);
    expect(clock.alarmMsOf(clock.now() + 1)).toBe(systemMs() + 1_000);
    expect(clock.alarmMsOf(clock.now() + DAY_MS)).toBe(systemMs() + 1_000);
    expect(clock.alarmMsOf(clock.now())).toBeLessThanOrEqual(systemMs());
  });
});

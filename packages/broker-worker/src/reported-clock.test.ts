import { describe, expect, it } from "vitest";
import { ReportedClock, RUNS_ON_MS_MAX } from "./reported-clock.ts";

const DAY_MS = 86_400_000;

function reportedClock(behindMs = 0) {
  let systemMs = 1_000_000_000_000;
  const startMs = systemMs - behindMs;
  const clock = new ReportedClock(() => systemMs, behindMs);
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
    const { pass, sinceStart } = reportedClock();
    pass(DAY_MS);
    expect(sinceStart()).toBe(DAY_MS);
  });

  it("is behind at its start by the given difference", () => {
    const { clock, systemMs } = reportedClock(DAY_MS);
    expect(clock.now()).toBe(systemMs() - DAY_MS);
  });

  it("follows a system's clock that is set only up to its bound, and goes on from there", () => {
    const { clock, pass, sinceStart } = reportedClock();
    clock.report(0);
    pass(RUNS_ON_MS_MAX);
    expect(sinceStart()).toBe(RUNS_ON_MS_MAX);
    expect(clock.report(0)).toBe(false);
    pass(1_000);
    expect(sinceStart()).toBe(RUNS_ON_MS_MAX + 1_000);
    pass(5 * DAY_MS);
    expect(sinceStart()).toBe(2 * RUNS_ON_MS_MAX);
    expect(clock.report(5 * DAY_MS)).toBe(true);
    pass(RUNS_ON_MS_MAX);
    expect(sinceStart()).toBe(2 * RUNS_ON_MS_MAX + 1_000);
  });

  it("stands while the system's has gone back without a report", () => {
    const { clock, pass, sinceStart } = reportedClock();
    clock.report(0);
    pass(1_000);
    sinceStart();
    pass(-DAY_MS);
    expect(sinceStart()).toBe(1_000);
    expect(clock.report(-DAY_MS)).toBe(true);
    pass(10);
    expect(sinceStart()).toBe(1_010);
  });

  it("sets alarms by the system's clock, and not too late for a clock that catches up", () => {
    const { clock, pass, systemMs } = reportedClock();
    expect(clock.alarmMsOf(clock.now() + DAY_MS)).toBe(systemMs() + DAY_MS);
    pass(5 * DAY_MS);
    clock.report(5 * DAY_MS);
    expect(clock.alarmMsOf(clock.now() + 1_100)).toBe(systemMs() + 1_000);
    expect(clock.alarmMsOf(clock.now() - 1)).toBe(systemMs());
    expect(clock.momentOf(systemMs())).toBe(clock.now());
  });

  it("sets alarms a second ahead while it stands, but for what is due", () => {
    const { clock, pass, systemMs } = reportedClock();
    clock.report(0);
    pass(RUNS_ON_MS_MAX + 60_000);
    expect(clock.alarmMsOf(clock.now() + 1)).toBe(systemMs() + 1_000);
    expect(clock.alarmMsOf(clock.now() + DAY_MS)).toBe(systemMs() + 1_000);
    expect(clock.alarmMsOf(clock.now())).toBeLessThanOrEqual(systemMs());
  });
});

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { CLOCK_FILE, COMPARE_EVERY_MS, KEEP_EVERY_MS, MachineClock } from "./machine-clock.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

function machineWith(folder = mkdtempSync(join(tmpdir(), "sluice-clock-"))) {
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const machine = { setMs: 0, atMs: 0 };
  const warnings: string[] = [];
  const open = () => {
    const clock = new MachineClock(folder, (line) => warnings.push(line), {
      systemMs: () => START_MS + machine.atMs + machine.setMs,
      passedMs: () => machine.atMs,
      sleptMs: () => 0,
    });
    onTestFinished(() => clock.close());
    return clock;
  };
  const pass = (ms: number) => {
    machine.atMs += ms;
    vi.advanceTimersByTime(ms);
  };
  const file = join(folder, CLOCK_FILE);
  const stored = () => JSON.parse(readFileSync(file, "utf8"));
  return { machine, open, pass, warnings, file, stored };
}

describe("the clock of a data folder", () => {
  it("is written down at the start, each minute and when the system's was set, for this user alone", () => {
    const { machine, open, pass, stored, file } = machineWith();
    open();
    expect(stored()).toEqual({ systemMs: START_MS, brokerMs: START_MS });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    pass(KEEP_EVERY_MS - COMPARE_EVERY_MS);
    expect(stored().systemMs).toBe(START_MS);
    pass(COMPARE_EVERY_MS);
    expect(stored().systemMs).toBe(START_MS + KEEP_EVERY_MS);
    machine.setMs = DAY_MS;
    pass(COMPARE_EVERY_MS);
    const { systemMs, brokerMs } = stored();
    expect(systemMs - brokerMs).toBe(DAY_MS);
  });

  it("says how far the clock was set, and where the broker's time is since", () => {
    const { machine, open, pass, warnings } = machineWith();
    const reported: number[] = [];
    open().watch((behindMs) => reported.push(behindMs));
    machine.setMs = 5 * DAY_MS;
    pass(COMPARE_EVERY_MS);
    machine.setMs = 0;
    pass(COMPARE_EVERY_MS);
    expect(reported).toEqual([0, 5 * DAY_MS, -100]);
    expect(warnings).toEqual([
      expect.stringContaining("was set forward by 5 d"),
      expect.stringContaining("was set back by 5 d"),
    ]);
  });

  it("goes on after a restart where it was, also on a machine whose clock has gone back meanwhile", () => {
    const { machine, open, warnings } = machineWith();
    open().close();
    machine.setMs = -DAY_MS;
    expect(open().held.now()).toBe(START_MS);
    expect(warnings).toEqual([expect.stringContaining("was set back by 1 d")]);
  });

  it("is the system's where what was written down cannot be read", () => {
    const { open, warnings, file } = machineWith();
    writeFileSync(file, '{"systemMs": "yesterday"}');
    expect(open().held.now()).toBe(START_MS);
    expect(warnings).toEqual([expect.stringContaining("cannot be read")]);
  });

  it("goes on where it cannot be written down, and says so once", () => {
    const { open, pass, warnings, file } = machineWith();
    const clock = open();
    rmSync(join(file, ".."), { recursive: true });
    pass(3 * KEEP_EVERY_MS);
    clock.close();
    expect(warnings).toEqual([expect.stringContaining("cannot be written down")]);
  });
});

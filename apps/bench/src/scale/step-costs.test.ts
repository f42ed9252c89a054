import { expect, it } from "vitest";
import { computedPerSecond, stepCosts } from "./step-costs.ts";

/** Runs of a process in which a call takes 0.1 ms, a message 0.01 ms, a commit 0.2 ms, and the disk 0.5 ms. */
function runOf(calls: number, perCall: number, commits: number) {
  const messages = calls * perCall;
  const cpuMs = 0.1 * calls + 0.01 * messages + 0.2 * commits;
  return { calls, messages, commits, rowsWritten: 2 * commits, cpuMs, tookMs: cpuMs + 0.5 * commits };
}

const RUNS = { single: runOf(1_000, 1, 1_000), atOnce: runOf(6_400, 1, 100), together: runOf(500, 100, 500) };

it("the costs of the steps are found in the CPU time of three ways of sending", () => {
  const { callMs, messageMs, commitMs, rowsPerCommit, diskMs } = stepCosts(RUNS);
  expect(callMs).toBeCloseTo(0.1, 9);
  expect(messageMs).toBeCloseTo(0.01, 9);
  expect(commitMs).toBeCloseTo(0.2, 9);
  expect(diskMs).toBeCloseTo(0.5, 9);
  expect(rowsPerCommit).toBe(2);
});

it("a difference below the noise counts as none, and an unknown CPU time is an error", () => {
  const together = { ...RUNS.together, cpuMs: 1 };
  expect(stepCosts({ ...RUNS, together }).messageMs).toBe(0);
  expect(() => stepCosts({ ...RUNS, together: { ...RUNS.together, cpuMs: null } })).toThrow("no /proc");
});

it("a shard with a core sends as fast as calls and their part of a commit let it", () => {
  expect(computedPerSecond(stepCosts(RUNS), 1)).toBeCloseTo(1_000 / 0.81, 6);
  expect(computedPerSecond(stepCosts(RUNS), 70)).toBeCloseTo(1_000 / 0.12, 6);
});

import { describe, expect, it } from "vitest";
import {
  PAUSE_MS,
  PutOffTrials,
  STEPS_MS,
  TRIAL_EVERY,
  TRIAL_EVERY_MAX,
  TRIAL_REQUESTS,
} from "./put-off-trials.ts";

/** Has requests come for a while, each so long after the one before as it is while frames are put off by so much. */
function run(trials: PutOffTrials, betweenMs: (putOffMs: number) => number, requests: number, startMs = 0) {
  const putOff = new Map<number, number>();
  let nowMs = startMs;
  for (let i = 0; i < requests; i++) {
    trials.arrived(nowMs);
    putOff.set(trials.putOffMs, (putOff.get(trials.putOffMs) ?? 0) + 1);
    nowMs += betweenMs(trials.putOffMs);
  }
  return { nowMs, shareOf: (ms: number) => (putOff.get(ms) ?? 0) / requests };
}

/** Clients that are busy themselves, and not less so for waiting. */
const busy = () => 0.3;
/** Sixteen clients that wait for their answers, each of which takes a ms when it is not put off. */
const waiting = (putOffMs: number) => (1 + putOffMs) / 16;

describe("frames", () => {
  it("are not put off before anything is known", () => {
    const trials = new PutOffTrials();
    expect(trials.putOffMs).toBe(0);
    run(trials, busy, TRIAL_REQUESTS * TRIAL_EVERY);
    expect(trials.putOffMs).toBe(0);
  });

  it("of clients that do not come more slowly for it are put off by the longest time, within a second", () => {
    const trials = new PutOffTrials();
    run(trials, busy, 3_500);
    expect(run(trials, busy, 40_000, 2_000).shareOf(4)).toBeGreaterThan(0.9);
  });

  it("of clients that wait for their answers are put off for trial only, ever more seldom", () => {
    const trials = new PutOffTrials();
    const { nowMs } = run(trials, waiting, 100_000);
    const later = run(trials, waiting, 2 * (TRIAL_EVERY_MAX + 1) * TRIAL_REQUESTS, nowMs);
    expect(later.shareOf(0)).toBeGreaterThan(0.98);
    expect(later.shareOf(1)).toBeGreaterThan(0);
  });

  it("are put off by as much as does no harm", () => {
    const trials = new PutOffTrials();
    const upToTwo = (putOffMs: number) => (putOffMs > 2 ? 0.5 : 0.3);
    const { nowMs } = run(trials, upToTwo, 60_000);
    expect(run(trials, upToTwo, 60_000, nowMs).shareOf(2)).toBeGreaterThan(0.9);
  });

  it("are put off no more when clients change", () => {
    const trials = new PutOffTrials();
    const { nowMs } = run(trials, busy, 40_000);
    const { nowMs: laterMs } = run(trials, waiting, 100_000, nowMs);
    expect(run(trials, waiting, 20_000, laterMs).shareOf(0)).toBeGreaterThan(0.9);
  });

  it("of few clients are not put off: nobody would come along", () => {
    const trials = new PutOffTrials();
    expect(run(trials, () => 1.4, 40_000).shareOf(0)).toBe(1);
    expect(run(new PutOffTrials(), () => 0.4, 40_000).shareOf(1)).toBe(0);
  });

  it("are put off by a step at a time at most", () => {
    const trials = new PutOffTrials();
    const seen = new Set<number>();
    const betweenMs = (putOffMs: number) => {
      seen.add(putOffMs);
      return 0.01;
    };
    const changes = run(trials, betweenMs, 60_000);
    expect([...seen]).toEqual([...STEPS_MS]);
    expect(changes.shareOf(4)).toBeGreaterThan(0.8);
  });

  it("are not put off after a pause before it is known again how fast requests come", () => {
    const trials = new PutOffTrials();
    const { nowMs } = run(trials, busy, 40_000);
    trials.arrived(nowMs + PAUSE_MS);
    expect(trials.putOffMs).toBe(0);
    run(trials, busy, TRIAL_REQUESTS + 1, nowMs + PAUSE_MS);
    expect(trials.putOffMs).toBe(4);
  });
});

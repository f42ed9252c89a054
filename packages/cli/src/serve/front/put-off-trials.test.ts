import { describe, expect, it } from "vitest";
import {
  JUDGED_AGAIN_FRAMES,
  PAUSE_MS,
  PUT_OFF_MS,
  PutOffTrials,
  TRIAL_EVERY_MS,
  TRIAL_EVERY_MS_MAX,
  TRIED_PUT_OFF_MS,
} from "./put-off-trials.ts";

/** Time that the broker takes for a frame, and a client for a request beside waiting for its answer, in ms. */
const BROKER_MS = 0.2;

/** Share of the requests that were put off by so many ms, and how fast they came. */
interface Outcome {
  shareOf(putOffMs: number): number;
  readonly perMs: number;
  /** When the last one was answered. */
  readonly endMs: number;
}

/**
 * Clients of which each sends a request when it has the answer to the one before, as soon as it has time: `together` of them share
 * a processor that takes so many ms for each request. Everything that has come when a frame is due goes in it.
 */
function run(
  trials: PutOffTrials,
  clients: number,
  costMs: number,
  requests: number,
  beginMs = 1_000,
): Outcome {
  const count = new Map<number, number>();
  const ready: number[] = Array.from({ length: clients }, () => 0);
  let waiting = 0;
  let nowMs = beginMs;
  let sentMs = 0;
  let freeMs = nowMs;
  let sent = 0;
  while (sent < requests) {
    const nextMs = ready.length === 0 ? Number.POSITIVE_INFINITY : Math.max(freeMs, ready[0] ?? 0) + costMs;
    const dueMs = waiting === 0 ? Number.POSITIVE_INFINITY : Math.max(nowMs, sentMs + trials.putOffMs);
    if (nextMs <= dueMs) {
      ready.shift();
      // What comes while the broker is busy is read when it is not.
      nowMs = Math.max(nowMs, nextMs);
      freeMs = nextMs;
      waiting += 1;
      trials.arrived(nowMs);
      continue;
    }
    nowMs = dueMs;
    sentMs = nowMs;
    count.set(trials.putOffMs, (count.get(trials.putOffMs) ?? 0) + waiting);
    trials.sent(nowMs);
    sent += waiting;
    nowMs += BROKER_MS;
    trials.answered(nowMs);
    ready.push(...Array.from({ length: waiting }, () => nowMs));
    waiting = 0;
  }
  return { shareOf: (ms) => (count.get(ms) ?? 0) / sent, perMs: sent / (nowMs - beginMs), endMs: nowMs };
}

describe("frames", () => {
  it("are not put off before anything is known", () => {
    const trials = new PutOffTrials();
    expect(trials.putOffMs).toBe(0);
    expect(run(trials, 50, 0.3, (TRIAL_EVERY_MS / 0.3) * 0.95).shareOf(0)).toBe(1);
  });

  it("of many clients that are busy are put off, soon", () => {
    const trials = new PutOffTrials();
    const outcome = run(trials, 50, 0.3, 20_000);
    expect(outcome.shareOf(PUT_OFF_MS)).toBeGreaterThan(0.9);
    expect(outcome.shareOf(TRIED_PUT_OFF_MS)).toBeLessThan(0.05);
    expect(outcome.perMs).toBeGreaterThan(0.98 / 0.3);
  });

  it("of fewer are not: they would notice", () => {
    const outcome = run(new PutOffTrials(), 8, 0.3, 100_000);
    expect(outcome.shareOf(0)).toBeGreaterThan(0.95);
    expect(outcome.perMs).toBeGreaterThan(0.98 / 0.3);
  });

  it.each([2, 4, 12, 30])(
    "of %i clients that wait for their answers are put off for trial only, ever more seldom",
    (clients) => {
      const outcome = run(new PutOffTrials(), clients, 0.02, 200_000);
      expect(outcome.shareOf(0)).toBeGreaterThan(0.98);
      expect(outcome.shareOf(TRIED_PUT_OFF_MS)).toBeGreaterThan(0);
    },
  );

  it("are put off no more when clients change", () => {
    const trials = new PutOffTrials();
    const busy = run(trials, 50, 0.3, 20_000);
    const changed = run(trials, 4, 0.02, 4 * 2 * JUDGED_AGAIN_FRAMES, busy.endMs);
    expect(run(trials, 4, 0.02, 20_000, changed.endMs).shareOf(0)).toBeGreaterThan(0.95);
  });

  it("are put off again when clients are busy again, however long they were not", () => {
    const trials = new PutOffTrials();
    const waiting = run(trials, 12, 0.02, 1_000_000);
    const busy = run(trials, 50, 0.3, TRIAL_EVERY_MS_MAX / 0.3, waiting.endMs);
    expect(run(trials, 50, 0.3, 20_000, busy.endMs).shareOf(PUT_OFF_MS)).toBeGreaterThan(0.85);
  });

  it("of one client are put off for trial only, and of those that come seldom never", () => {
    expect(run(new PutOffTrials(), 1, 0.01, 20_000).shareOf(0)).toBeGreaterThan(0.99);
    expect(run(new PutOffTrials(), 50, 1.4, 20_000).shareOf(0)).toBe(1);
  });

  it("are put off again at once when clients that were busy come back", () => {
    const trials = new PutOffTrials();
    const before = run(trials, 50, 0.3, 20_000);
    const again = run(trials, 50, 0.3, 2_000, before.endMs + 20_000);
    expect(again.shareOf(PUT_OFF_MS)).toBeGreaterThan(0.9);
  });

  it.each([
    [1, 0.01],
    [1, 0.35],
    [1, 0.9],
    [2, 0.6],
    [3, 0.4],
    [4, 0.02],
  ])(
    "are soon put off no more when after a pause %i come that take %f ms for a request",
    (clients, costMs) => {
      const trials = new PutOffTrials();
      const before = run(trials, 50, 0.3, 20_000);
      const first = run(trials, clients, costMs, 2_000, before.endMs + 20_000);
      expect(first.shareOf(PUT_OFF_MS)).toBeGreaterThan(0);
      const alone = run(trials, clients, costMs, 4_000, first.endMs);
      expect(alone.shareOf(0)).toBeGreaterThan(0.95);
    },
  );

  it("of clients that come seldom are not put off any more, after any number of pauses", () => {
    const trials = new PutOffTrials();
    let { endMs } = run(trials, 50, 0.3, 20_000);
    for (let i = 0; i < JUDGED_AGAIN_FRAMES; i++) ({ endMs } = run(trials, 1, 0.5, 2, endMs + 2 * PAUSE_MS));
    expect(trials.putOffMs).toBe(0);
  });
});

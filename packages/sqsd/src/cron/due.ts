import type { Schedule } from "./schedule.ts";

/** Default of the time after a missed run's moment in which the run is still made, in ms (spec sqsd 8.5). */
export const CATCH_UP_MS_DEFAULT = 300_000;
/** Largest value of that time, in ms: a week, 10,080 runs of a task of every minute. */
export const CATCH_UP_MS_MAX = 604_800_000;
/** How late a run may be without counting as missed, in ms: it is made even by the rule `none`. */
export const ON_TIME_MS = 60_000;

/** Rules for missed runs (spec sqsd 8.6): the last one is still made, as on AWS, or each, or none. */
export const CATCH_UP_RULES = ["one", "all", "none"] as const;
export type CatchUpRule = (typeof CATCH_UP_RULES)[number];

export interface CatchUp {
  readonly rule: CatchUpRule;
  /** How long after its time a run is still made, in ms; of no meaning to `none`. */
  readonly windowMs: number;
}

/** Runs of a task at one moment, in ms. */
export interface DueRuns {
  /** Those that are to be made, in order. */
  readonly made: readonly number[];
  /** The last of those that are left out, before all that are made; `null` for none. */
  readonly leftOutMs: number | null;
}

/**
 * Finds the runs of a task that are due, and the last one that is left out.
 *
 * @param lastMs the moment up to which runs have been made or given up, in ms.
 */
export function dueOf(
  schedule: Schedule,
  lastMs: number,
  nowMs: number,
  { rule, windowMs }: CatchUp = { rule: "one", windowMs: CATCH_UP_MS_DEFAULT },
): DueRuns {
  const latestMs = schedule.until(nowMs);
  if (latestMs === null || latestMs <= lastMs) return { made: [], leftOutMs: null };
  const lateMsMax = rule === "none" ? ON_TIME_MS : windowMs;
  if (nowMs - latestMs >= lateMsMax) return { made: [], leftOutMs: latestMs };
  const made = rule === "all" ? runsAfter(schedule, Math.max(lastMs, nowMs - lateMsMax), nowMs) : [latestMs];
  const beforeMs = schedule.until((made[0] ?? latestMs) - 1);
  return { made, leftOutMs: beforeMs !== null && beforeMs > lastMs ? beforeMs : null };
}

function runsAfter(schedule: Schedule, fromMs: number, nowMs: number): number[] {
  const runs: number[] = [];
  let next = schedule.after(fromMs);
  while (next !== null && next <= nowMs) {
    runs.push(next);
    next = schedule.after(next);
  }
  return runs;
}

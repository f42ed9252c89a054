import type { Schedule } from "./schedule.ts";

/** How long after its time a run is still made that was missed, in ms (spec sqsd 8.5). */
export const CATCH_UP_MS_MAX = 300_000;

/** What is due of a task. */
export type Due =
  /** Nothing. */
  | { readonly kind: "none" }
  /** The run of that moment, in ms; runs before it were missed. */
  | { readonly kind: "run"; readonly atMs: number }
  /** Runs were missed, the last one too long ago. */
  | { readonly kind: "missed"; readonly atMs: number };

/** @param lastMs the moment up to which runs have been made or given up, in ms. */
export function dueOf(schedule: Schedule, lastMs: number, nowMs: number): Due {
  const atMs = schedule.until(nowMs);
  if (atMs === null || atMs <= lastMs) return { kind: "none" };
  return { kind: nowMs - atMs < CATCH_UP_MS_MAX ? "run" : "missed", atMs };
}

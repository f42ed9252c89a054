/** Counts of less than this say nothing about a month, in ms. */
const TOLD_AFTER_MS = 3_600_000;

/** `2026-11`, in UTC. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

/** When the month of a moment ends, in UTC and ms since 1970. */
export function monthEndMs(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/**
 * How many times as much a month will have seen at its end as until now, if it goes on like this.
 *
 * @param sinceMs since when is counted.
 * @returns `null` where less than an hour is counted: that says nothing.
 */
export function factorAtMonthEnd(sinceMs: number, nowMs: number): number | null {
  const countedMs = nowMs - sinceMs;
  if (countedMs < TOLD_AFTER_MS) return null;
  return (monthEndMs(nowMs) - sinceMs) / countedMs;
}

/** Shortest time whose counts say something about a month, in ms. */
const COUNTED_MS_MIN = 3_600_000;

/** `2026-11`, in UTC. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

/** When the month of a moment began, in UTC and ms since 1970. */
export function monthStartMs(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** When the month of a moment ends, in UTC and ms since 1970. */
export function monthEndMs(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/**
 * Factor from the usage until now to that at the end of the month, at this rate.
 *
 * @param sinceMs when the counting began.
 * @returns `null` where less than an hour is counted.
 */
export function factorAtMonthEnd(sinceMs: number, nowMs: number): number | null {
  const countedMs = nowMs - sinceMs;
  if (countedMs < COUNTED_MS_MIN) return null;
  return (monthEndMs(nowMs) - sinceMs) / countedMs;
}

import type { HostClock } from "@sluice/broker";

/**
 * Longest that the clock runs on after a report, in ms. Then it stands until the next one. A report comes every second,
 * so a system clock that is set changes the broker's time by at most this much.
 */
export const RUNS_ON_MS_MAX = 5_000;

/** Wait for an alarm while the clock stands, in ms: the next report may come at any time. */
const STANDING_WAIT_MS = 1_000;

/** Smallest change of the difference by a clock that was set, in ms. Catching up changes it by 100 ms a second. */
const SET_MS_MIN = 500;

/**
 * Clock of a broker on workerd. workerd has only the system clock, which may be set. The process that started workerd
 * has a clock that nobody sets, and reports how far that is behind the system clock. workerd's alarms go by the system
 * clock, so their times are converted.
 */
export class ReportedClock implements HostClock {
  readonly #systemMs: () => number;
  #behindMs: number;
  /** System time of the last report, in ms; `null` before the first. */
  #reportedAtMs: number | null = null;
  /** Latest time that was read: the clock never goes back. */
  #lastMs = 0;

  /**
   * @param systemMs the system clock, in ms since 1970.
   * @param behindMs difference at the start, in ms; negative for a clock that is ahead.
   */
  constructor(systemMs: () => number, behindMs: number) {
    this.#systemMs = systemMs;
    this.#behindMs = behindMs;
  }

  now(): number {
    const boundedMs = Math.min(this.#systemMs(), this.#standsAtMs);
    this.#lastMs = Math.max(this.#lastMs, boundedMs - this.#behindMs);
    return this.#lastMs;
  }

  /** Takes a reported difference, in ms. Returns whether it changed by more than a clock that catches up explains. */
  report(behindMs: number): boolean {
    const wasSet = Math.abs(behindMs - this.#behindMs) >= SET_MS_MIN;
    this.#behindMs = behindMs;
    this.#reportedAtMs = this.#systemMs();
    return wasSet;
  }

  alarmMsOf(atMs: number): number {
    const systemMs = this.#systemMs();
    const waitMs = Math.max(0, atMs - this.now());
    // An alarm at a time that the system clock has passed and this one has not would ring again and again.
    if (waitMs > 0 && systemMs >= this.#standsAtMs) return systemMs + STANDING_WAIT_MS;
    if (this.#behindMs === 0) return atMs;
    // A clock that catches up runs a tenth faster. For one that is ahead the alarm rings early, and is set again.
    return systemMs + Math.floor((waitMs * 10) / 11);
  }

  /** Returns the broker's time, or an earlier one, at which an alarm rings. */
  momentOf(alarmMs: number): number {
    return alarmMs - this.#behindMs;
  }

  get #standsAtMs(): number {
    return this.#reportedAtMs === null ? Infinity : this.#reportedAtMs + RUNS_ON_MS_MAX;
  }
}

import type { HostClock } from "@sluice/broker";

/**
 * Time in ms of the system's clock for which a reported difference counts. A report comes every second, so the broker's
 * time is wrong for at most this long after the system's clock is set.
 */
export const TOLD_CLOCK_MS = 5_000;

/**
 * Time of a broker on workerd, which has only the system's clock: the process that started workerd reports how far the
 * broker's time is behind it. Alarms of workerd use the system's clock.
 */
export class ToldClock implements HostClock {
  readonly #systemMs: () => number;
  #behindMs: number;
  /** System's time of the last report, in ms; `null` before. */
  #toldAtMs: number | null = null;
  #lastMs = 0;

  /**
   * @param systemMs the system's clock, in ms since 1970.
   * @param behindMs difference at the start, in ms; negative for a clock that is ahead.
   */
  constructor(systemMs: () => number, behindMs: number) {
    this.#systemMs = systemMs;
    this.#behindMs = behindMs;
  }

  now(): number {
    const systemMs = this.#systemMs();
    const believedMs =
      this.#toldAtMs === null ? systemMs : Math.min(systemMs, this.#toldAtMs + TOLD_CLOCK_MS);
    this.#lastMs = Math.max(this.#lastMs, believedMs - this.#behindMs);
    return this.#lastMs;
  }

  /** Takes a reported difference, in ms. Returns whether the system's clock has been set since the last report. */
  told(behindMs: number): boolean {
    const wasSet = Math.abs(behindMs - this.#behindMs) >= SET_MS_MIN;
    this.#behindMs = behindMs;
    this.#toldAtMs = this.#systemMs();
    return wasSet;
  }

  /** A clock that catches up arrives a tenth earlier; an early alarm is set again. */
  alarmMsOf(atMs: number): number {
    if (this.#behindMs === 0) return atMs;
    const waitMs = atMs - this.now();
    return this.#systemMs() + Math.max(0, Math.floor((waitMs * 10) / 11));
  }

  momentOf(alarmMs: number): number {
    return alarmMs - this.#behindMs;
  }
}

/** Smallest difference of a clock that was set, in ms: a smaller one comes from catching up. */
const SET_MS_MIN = 500;

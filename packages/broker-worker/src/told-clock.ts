import type { HostClock } from "@sluice/broker";

/**
 * How far the time of a broker goes on by itself, in ms of the system's clock. Whoever holds that clock against another
 * one says each second how far it can be believed: one that is set in between leads no further than this.
 */
export const TOLD_CLOCK_MS = 5_000;

/**
 * The time of a broker on workerd, which has no clock but the system's: the process that has started workerd says how
 * far the broker's time is behind it. Alarms of workerd go by the system's clock.
 */
export class ToldClock implements HostClock {
  readonly #systemMs: () => number;
  #behindMs: number;
  /** System's time when the clock was told last, in ms; `null` before. */
  #toldAtMs: number | null = null;
  #lastMs = 0;

  /**
   * @param systemMs the system's clock, in ms since 1970.
   * @param behindMs how far it is behind that at the start; less than 0 for one that is ahead.
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

  /** Takes how far it is behind, in ms. Answers whether the system's clock has been set since the last time. */
  told(behindMs: number): boolean {
    const wasSet = Math.abs(behindMs - this.#behindMs) >= SET_MS_MIN;
    this.#behindMs = behindMs;
    this.#toldAtMs = this.#systemMs();
    return wasSet;
  }

  /** A clock that catches up gets there a tenth earlier: an alarm that is early is set again. */
  alarmMsOf(atMs: number): number {
    if (this.#behindMs === 0) return atMs;
    const waitMs = atMs - this.now();
    return this.#systemMs() + Math.max(0, Math.floor((waitMs * 10) / 11));
  }

  momentOf(alarmMs: number): number {
    return alarmMs - this.#behindMs;
  }
}

/** Smallest difference that shows a set clock, in ms: a smaller one comes of catching up. */
const SET_MS_MIN = 500;

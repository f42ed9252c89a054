import type { ClockSetting } from "@sluice/protocol";

/** Where the broker's time comes from, in ms since 1970. Nothing else in this package reads a clock. */
export interface Clock {
  now(): number;
}

/** The clock of what a broker runs on, and how the platform's alarms relate to it. */
export interface HostClock extends Clock {
  /**
   * Returns the time, in ms, to set an alarm of the platform to, so that it rings at a moment of this clock or before.
   */
  alarmMsOf(atMs: number): number;
  /** The moment of this clock that such an alarm was set to, in ms. */
  momentOf(alarmMs: number): number;
}

/** The platform's own time, by which its alarms go. */
export const systemClock: HostClock = {
  now: () => Date.now(),
  alarmMsOf: (atMs) => atMs,
  momentOf: (alarmMs) => alarmMs,
};

/**
 * Time that can be moved forward and stopped: development only. It never goes backwards, so no due time that has passed
 * can come again.
 *
 * - running: real time, ahead of it by `offsetMs`. Left by `freeze`.
 * - frozen: it stands, and `advance` alone moves it. Left by `follow`.
 */
export class MovableClock implements Clock {
  readonly #base: Clock;
  #offsetMs: number;
  #frozenAtMs: number | null = null;

  /** @param offsetMs how far it is ahead of `base`, in ms. */
  constructor(base: Clock, offsetMs: number) {
    this.#base = base;
    this.#offsetMs = offsetMs;
  }

  /** A clock that stands at a moment, whatever the time of `base` is: a test chooses when it begins. */
  static standing(base: Clock, atMs: number): MovableClock {
    const clock = new MovableClock(base, 0);
    clock.#frozenAtMs = atMs;
    return clock;
  }

  get isFrozen(): boolean {
    return this.#frozenAtMs !== null;
  }

  /** How far it is ahead of real time, in ms; 0 if real time has caught up with one that is frozen. */
  get offsetMs(): number {
    return this.#frozenAtMs === null ? this.#offsetMs : Math.max(0, this.#frozenAtMs - this.#base.now());
  }

  now(): number {
    return this.#frozenAtMs ?? this.#base.now() + this.#offsetMs;
  }

  /** Moves time forward. Throws RangeError for less than 0 ms. */
  advance(ms: number): void {
    if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`the clock cannot move by ${ms} ms`);
    if (this.#frozenAtMs === null) this.#offsetMs += ms;
    else this.#frozenAtMs += ms;
  }

  /** Stops at `atMs`, or where it stands if that has passed. */
  freeze(atMs: number): void {
    this.#frozenAtMs = Math.max(this.now(), atMs);
  }

  /** Goes on with real time: from where it stands, or from real time if that is later. */
  follow(): void {
    this.#offsetMs = this.offsetMs;
    this.#frozenAtMs = null;
  }

  /** Goes by a setting as far as that does not lead backwards. Once or twice is the same. */
  goBy({ offsetMs, frozenAtMs }: ClockSetting): void {
    if (frozenAtMs !== null) {
      this.freeze(frozenAtMs);
      return;
    }
    if (this.isFrozen) this.follow();
    this.#offsetMs = Math.max(this.#offsetMs, offsetMs);
  }

  /** Setting by which another clock tells the same time. */
  get setting(): ClockSetting {
    return { offsetMs: this.offsetMs, frozenAtMs: this.#frozenAtMs };
  }

  /** When a moment of this clock comes, in ms of real time; `null` if only `advance` brings it. */
  realMsOf(atMs: number): number | null {
    if (this.#frozenAtMs === null) return Math.max(this.now(), atMs) - this.#offsetMs;
    return atMs <= this.#frozenAtMs ? this.#base.now() : null;
  }
}

/** Returns the time to set an alarm of the platform to, so that it rings in a while, in ms. */
export function alarmMsAfter(clock: HostClock, ms: number): number {
  return clock.alarmMsOf(clock.now() + ms);
}

/** Where the clock stands at first by the broker's variables, in ms since 1970; `null` where it runs. */
export function clockStartMsOf({ SLUICE_CLOCK_START: start }: { readonly SLUICE_CLOCK_START?: string }) {
  return start === undefined ? null : Number(start);
}

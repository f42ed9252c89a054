import type { ClockSetting } from "@sluice/protocol";

/** Source of the broker's time, in ms since 1970. The time of day is read in this folder alone. */
export interface Clock {
  now(): number;
  /** Time by which it was moved forward since it was made, in ms. Default: 0, for a clock that cannot be moved. */
  readonly movedMs?: number;
}

/** Clock of a host, and its relation to the platform's alarms. */
export interface HostClock extends Clock {
  /** Converts a time of this clock to that of a platform's alarm, in ms. The alarm rings then or before. */
  alarmMsOf(atMs: number): number;
  /** Converts the time of an alarm back to this clock, in ms. */
  momentOf(alarmMs: number): number;
}

/** Clock of the platform and its alarms. */
export const systemClock: HostClock = {
  now: () => Date.now(),
  alarmMsOf: (atMs) => atMs,
  momentOf: (alarmMs) => alarmMs,
};

/**
 * Clock that can be moved forward and stopped, in development only. It never goes back, so no due time comes twice.
 *
 * - running: ahead of real time by `offsetMs`. Left by `freeze`.
 * - frozen: stands still, moved by `advance` alone. Left by `follow`.
 */
export class MovableClock implements Clock {
  readonly #base: Clock;
  #offsetMs: number;
  #frozenAtMs: number | null = null;
  #movedMs = 0;

  /** @param offsetMs by which it is ahead of `base`, in ms. */
  constructor(base: Clock, offsetMs: number) {
    this.#base = base;
    this.#offsetMs = offsetMs;
  }

  /** Makes a clock that goes by a setting from its beginning. */
  static by(base: Clock, { offsetMs, frozenAtMs }: ClockSetting): MovableClock {
    return frozenAtMs === null ? new MovableClock(base, offsetMs) : MovableClock.standing(base, frozenAtMs);
  }

  /** Makes a clock that is frozen at `atMs`, whatever the time of `base`, so that a test chooses its beginning. */
  static standing(base: Clock, atMs: number): MovableClock {
    const clock = new MovableClock(base, 0);
    clock.#frozenAtMs = atMs;
    return clock;
  }

  get movedMs(): number {
    return this.#movedMs;
  }

  get isFrozen(): boolean {
    return this.#frozenAtMs !== null;
  }

  /** Time by which it is ahead of real time, in ms; 0 if that has caught up with a frozen clock. */
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
    this.#movedMs += ms;
  }

  /** Stops at `atMs`, or now if that has passed. */
  freeze(atMs: number): void {
    const beforeMs = this.now();
    this.#frozenAtMs = Math.max(beforeMs, atMs);
    this.#movedMs += this.#frozenAtMs - beforeMs;
  }

  /** Runs on from its own time, or from real time if that is later: it is moved there then. */
  follow(): void {
    const beforeMs = this.now();
    this.#offsetMs = this.offsetMs;
    this.#frozenAtMs = null;
    this.#movedMs += this.now() - beforeMs;
  }

  /** Applies a setting, as far as it does not lead backwards. Idempotent. */
  goBy({ offsetMs, frozenAtMs }: ClockSetting): void {
    if (frozenAtMs !== null) {
      this.freeze(frozenAtMs);
      return;
    }
    if (this.isFrozen) this.follow();
    this.#movedMs += Math.max(0, offsetMs - this.#offsetMs);
    this.#offsetMs = Math.max(this.#offsetMs, offsetMs);
  }

  /** Applies a setting as `goBy` does, but counts no move: for a queue that has just begun. */
  takeOver(setting: ClockSetting): void {
    const movedMs = this.#movedMs;
    this.goBy(setting);
    this.#movedMs = movedMs;
  }

  /** Setting that gives another clock the same time. */
  get setting(): ClockSetting {
    return { offsetMs: this.offsetMs, frozenAtMs: this.#frozenAtMs };
  }

  /** Whether it shows the time of a setting, as a clock does that goes by it. */
  isAt({ offsetMs, frozenAtMs }: ClockSetting): boolean {
    return frozenAtMs === this.#frozenAtMs && (frozenAtMs !== null || offsetMs === this.#offsetMs);
  }

  /** Converts a time of this clock to real time, in ms; `null` if only `advance` brings it. */
  realMsOf(atMs: number): number | null {
    if (this.#frozenAtMs === null) return Math.max(this.now(), atMs) - this.#offsetMs;
    return atMs <= this.#frozenAtMs ? this.#base.now() : null;
  }
}

/** Returns the time to set a platform's alarm to, so that it rings after `ms`. */
export function alarmMsAfter(clock: HostClock, ms: number): number {
  return clock.alarmMsOf(clock.now() + ms);
}

/** Reads the time at which the clock stands at first from the broker's variables; `null` for a running clock. */
export function clockStartMsOf({ SLUICE_CLOCK_START: start }: { readonly SLUICE_CLOCK_START?: string }) {
  return start === undefined ? null : Number(start);
}

/** Where the broker's time comes from, in ms since 1970. Nothing else in this package reads a clock. */
export interface Clock {
  now(): number;
}

/** Real time. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * Real time moved forward by an amount that can grow: development only. It never goes backwards, so no due time that
 * has passed can come again.
 */
export class MovableClock implements Clock {
  readonly #base: Clock;
  #offsetMs: number;

  constructor(base: Clock, offsetMs: number) {
    this.#base = base;
    this.#offsetMs = offsetMs;
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  now(): number {
    return this.#base.now() + this.#offsetMs;
  }

  /** Moves time forward. Throws RangeError for less than 0 ms. */
  advance(ms: number): void {
    if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`the clock cannot move by ${ms} ms`);
    this.#offsetMs += ms;
  }
}

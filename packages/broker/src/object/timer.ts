import type { MovableClock } from "../platform/clock.ts";

/**
 * One timer for all calls that wait in this object. It ends with the object, as they do, and unlike an alarm it writes
 * nothing. It is never put off: ringing early finds nothing to do.
 */
export class Timer {
  readonly #clock: Pick<MovableClock, "now" | "isFrozen">;
  readonly #schedule: (callback: () => void, ms: number) => void;
  readonly #ring: () => void;
  /** When it rings, in ms of the clock; `null` if it is not set. */
  #atMs: number | null = null;

  constructor(
    clock: Pick<MovableClock, "now" | "isFrozen">,
    schedule: (callback: () => void, ms: number) => void,
    ring: () => void,
  ) {
    this.#clock = clock;
    this.#schedule = schedule;
    this.#ring = ring;
  }

  /**
   * Sets the timer, unless it rings earlier already or the clock is frozen before `atMs`: the caller that moves a
   * frozen clock wakes the queue itself.
   */
  set(atMs: number): void {
    if (this.#clock.isFrozen && atMs > this.#clock.now()) return;
    if (this.#atMs !== null && this.#atMs <= atMs) return;
    this.#atMs = atMs;
    const ring = () => {
      // It was set to an earlier time meanwhile, and has rung.
      if (this.#atMs !== atMs) return;
      this.#atMs = null;
      this.#ring();
    };
    this.#schedule(ring, Math.max(0, Math.ceil(atMs - this.#clock.now())));
  }
}

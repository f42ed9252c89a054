import type { MovableClock } from "../platform/clock.ts";

/**
 * One timer for everybody who waits on a line to this object. It ends with the object, and so do they; unlike an alarm
 * it writes nothing. One that is set for later than it would ring already is kept: ringing early finds nothing to do.
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
   * Sets the timer, unless the clock is frozen before `atMs`: the caller that moves a frozen clock wakes the queue
   * itself.
   */
  set(atMs: number): void {
    if (this.#clock.isFrozen && atMs > this.#clock.now()) return;
    if (this.#atMs !== null && this.#atMs <= atMs) return;
    this.#atMs = atMs;
    const ring = () => {
      // One that was set for earlier meanwhile has rung.
      if (this.#atMs !== atMs) return;
      this.#atMs = null;
      this.#ring();
    };
    this.#schedule(ring, Math.max(0, Math.ceil(atMs - this.#clock.now())));
  }
}

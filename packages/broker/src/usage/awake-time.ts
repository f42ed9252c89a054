/**
 * Time in which an object could not sleep, for which Cloudflare bills its memory: while a call, an alarm, a call to
 * another object or a timer is under way.
 */
export class AwakeTime {
  readonly #now: () => number;
  /** Number of activities under way. */
  #count = 0;
  #sinceMs = 0;
  #endedMs = 0;
  #isHeld = false;

  /** @param now clock in ms. On Workers it moves with input and output alone. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Total until now, in ms. */
  get totalMs(): number {
    return this.#endedMs + (this.#count > 0 ? this.#now() - this.#sinceMs : 0);
  }

  begin(): void {
    if (this.#count === 0) this.#sinceMs = this.#now();
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#endedMs += this.#now() - this.#sinceMs;
  }

  /** Begins or ends the activity of the queue itself. May be called again with the same value. */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (isHeld) this.begin();
    else this.end();
  }

  async during<Result>(work: Promise<Result>): Promise<Result> {
    this.begin();
    try {
      return await work;
    } finally {
      this.end();
    }
  }
}

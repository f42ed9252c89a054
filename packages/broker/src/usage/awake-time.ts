/**
 * How long an object could not sleep. Cloudflare bills its memory for that time: while a call, an alarm, a call to
 * others or a timer is under way. What is idle and could sleep is not billed.
 */
export class AwakeTime {
  readonly #now: () => number;
  /** Number of activities that are under way: those with a `begin` and no `end` yet. */
  #count = 0;
  #sinceMs = 0;
  #endedMs = 0;
  #isHeld = false;

  /** @param now the time in ms. Moves on with input and output alone, on Workers. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** All of it until now, in ms. */
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

  /** Whether the queue itself has something under way; said again whenever that may have changed. */
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

/** First wait after a failure, and the longest one. Doubles in between. */
export const BACKOFF_FIRST_MS = 500;
export const BACKOFF_MAX_MS = 30_000;

/** Waits for something outside this object that is not there: a consumer that does not run, a queue out of reach. */
export class Backoff {
  #failures = 0;
  #retryAtMs = 0;

  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Earliest moment of the next try in ms; meaningful while `failing`. */
  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  failed(nowMs: number): void {
    this.#retryAtMs = nowMs + Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
  }

  succeeded(): void {
    this.#failures = 0;
  }
}

/** First and longest wait after a failure, in ms. It doubles in between. */
export const BACKOFF_FIRST_MS = 500;
export const BACKOFF_MAX_MS = 30_000;

/** Backoff of calls to an absent consumer or an unreachable object. */
export class Backoff {
  #failures = 0;
  #retryAtMs = 0;

  get failing(): boolean {
    return this.#failures > 0;
  }

  /** Earliest time of the next try in ms; meaningful while `failing`. */
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

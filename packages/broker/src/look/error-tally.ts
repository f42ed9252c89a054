import { ERROR_GROUPS_MAX, type ErrorCounts } from "@sluice/protocol";

/** Errors that a tally tells apart, since each is kept in memory. Messages with further ones are counted together. */
export const ERRORS_TOLD_APART_MAX = 10_000;

/** Count of messages by their last errors. */
export class ErrorTally {
  readonly #counts = new Map<string, number>();
  #untold = 0;
  #none = 0;

  /** Counts a message. @param error its last error; `null` where none is known. */
  add(error: string | null): void {
    if (error === null) this.#none += 1;
    else if (this.#counts.size < ERRORS_TOLD_APART_MAX || this.#counts.has(error))
      this.#counts.set(error, (this.#counts.get(error) ?? 0) + 1);
    else this.#untold += 1;
  }

  get counts(): ErrorCounts {
    const sorted = [...this.#counts].sort(([, a], [, b]) => b - a);
    const rest = sorted.slice(ERROR_GROUPS_MAX).reduce((sum, [, count]) => sum + count, 0);
    return {
      groups: sorted.slice(0, ERROR_GROUPS_MAX).map(([error, count]) => ({ error, count })),
      others: rest + this.#untold,
      none: this.#none,
    };
  }
}

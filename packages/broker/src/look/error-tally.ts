import { ERROR_GROUPS_MAX, type ErrorCounts, type ErrorGroup } from "@sluice/protocol";

/** Groups that a tally tells apart, since each is kept in memory. Messages with further errors are counted together. */
export const ERRORS_TOLD_APART_MAX = 10_000;

/**
 * UUIDs, hexadecimal ids of 8 digits or more, and numbers: errors that differ only in these are alike. Line and column
 * of a place in code do not count as such: errors at two places are different.
 */
const VARYING =
  /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?<![\da-z])(?=[a-f]*\d)[\da-f]{8,}(?![\da-z])|(?<!\.[cm]?[jt]sx?:(?:\d+:)?\d*)\d+(?:[.,]\d+)*/gi;

/** First characters by which errors that were cut are told apart: where one was cut depends on the ids in it. */
export const CUT_ERROR_MAX = 90;

/** Error that was cut, with what stands behind it. */
const CUT = new RegExp(`^(.{${CUT_ERROR_MAX}})[^…]*…(?= \\(|$)`, "su");

/** Count of messages by their last errors. Those that differ only in numbers and ids are in one group. */
export class ErrorTally {
  /** By the patterns of their errors. */
  readonly #groups = new Map<string, ErrorGroup>();
  #untold = 0;
  #none = 0;

  /** Counts a message. @param error its last error; `null` where none is known. */
  add(error: string | null): void {
    if (error === null) {
      this.#none += 1;
      return;
    }
    const pattern = patternOf(error);
    const known = this.#groups.get(pattern);
    if (known !== undefined) {
      const isAlike = known.error !== error;
      this.#groups.set(pattern, { ...known, count: known.count + 1, ...(isAlike ? { text: pattern } : {}) });
    } else if (this.#groups.size < ERRORS_TOLD_APART_MAX) this.#groups.set(pattern, { error, count: 1 });
    else this.#untold += 1;
  }

  get counts(): ErrorCounts {
    const sorted = [...this.#groups.values()].sort((a, b) => b.count - a.count);
    const rest = sorted.slice(ERROR_GROUPS_MAX).reduce((sum, { count }) => sum + count, 0);
    return { groups: sorted.slice(0, ERROR_GROUPS_MAX), others: rest + this.#untold, none: this.#none };
  }
}

/** Returns an error with a `#` for each part that varies. Errors with the same pattern are one group. */
export function patternOf(error: string): string {
  const pattern = error.replace(VARYING, "#").replace(CUT, "$1…");
  // Without a letter there is nothing that errors have in common.
  return /\p{L}/u.test(pattern) ? pattern : error;
}

import { entryBeforePage, pageTokenAfter } from "../page-token.ts";
import { invalidParameter } from "./errors.ts";

/** Most entries of a page (spec sqs 2.2). */
export const MAX_RESULTS_MAX = 1_000;

/**
 * A page of a list, and the token of the next one: only who names a number of entries gets one. Throws `AwsError` for a
 * number out of range and for a token that this broker did not give.
 */
export function pageOf(
  entries: readonly string[],
  maxResults: number | undefined,
  token: string | undefined,
): { readonly page: readonly string[]; readonly next: string | null } {
  if (maxResults !== undefined && !(maxResults >= 1 && maxResults <= MAX_RESULTS_MAX)) {
    throw invalidParameter(
      `Value for parameter MaxResults is invalid. Reason: MaxResults must be an integer between 1 and ${MAX_RESULTS_MAX}.`,
    );
  }
  const after = entryBeforePage(token);
  if (after === null) throw invalidParameter("Invalid or expired next token.");
  const rest = entries.filter((entry) => entry > after).sort();
  const page = rest.slice(0, maxResults ?? MAX_RESULTS_MAX);
  const last = page.at(-1);
  const hasMore = maxResults !== undefined && page.length < rest.length && last !== undefined;
  return { page, next: hasMore ? pageTokenAfter(last) : null };
}

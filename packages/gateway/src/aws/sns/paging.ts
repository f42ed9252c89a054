import { entryBeforePage, pageTokenAfter } from "../page-token.ts";
import { invalid } from "./errors.ts";

/** Entries of a page (spec sns-delivery 9.3). */
export const PAGE_SIZE = 100;

/**
 * A page of a list in order of ARNs, and the token of the next one. A page begins behind the last entry of the one
 * before, whatever was added or deleted meanwhile. Throws `AwsError` for a token that this broker did not give.
 */
export function pageOf<Entry extends { readonly arn: string }>(
  entries: readonly Entry[],
  token: string | undefined,
): { readonly page: readonly Entry[]; readonly next: { readonly NextToken: string } | undefined } {
  const after = entryBeforePage(token);
  if (after === null) throw invalid("NextToken");
  const rest = entries.filter(({ arn }) => arn > after).sort((a, b) => (a.arn < b.arn ? -1 : 1));
  const page = rest.slice(0, PAGE_SIZE);
  const last = page.at(-1);
  const hasMore = rest.length > PAGE_SIZE && last !== undefined;
  return { page, next: hasMore ? { NextToken: pageTokenAfter(last.arn) } : undefined };
}

import { type Page, pageOf } from "../paging.ts";
import { invalid } from "./errors.ts";

/** Entries of a page (spec sns-delivery 9.3). */
export const PAGE_SIZE = 100;

/** Makes a page of a list in order of ARNs. Throws `AwsError` for a token that this broker did not give. */
export function snsPageOf<Entry extends { readonly arn: string }>(
  entries: readonly Entry[],
  token: string | undefined,
): Page<Entry> {
  const page = pageOf(entries, ({ arn }) => arn, PAGE_SIZE, token);
  if (page === null) throw invalid("NextToken");
  return page;
}

const PREFIX = "after:";

/** A part of a list, and the token of the next one if there is one. */
export interface Page<Entry> {
  readonly page: readonly Entry[];
  readonly next: { readonly NextToken: string } | undefined;
}

/**
 * Makes a page of an AWS list in order of names. It begins behind the last entry of the one before, also when entries
 * were added or deleted meanwhile. `null` for a token that this broker did not give.
 */
export function pageOf<Entry>(
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
  sizeMax: number,
  token: string | undefined,
): Page<Entry> | null {
  const after = token === undefined || token === "" ? "" : entryIn(token);
  if (after === null) return null;
  const rest = entries
    .filter((entry) => nameOf(entry) > after)
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const page = rest.slice(0, sizeMax);
  const last = page.at(-1);
  const hasMore = page.length < rest.length && last !== undefined;
  return { page, next: hasMore ? { NextToken: btoa(PREFIX + nameOf(last)) } : undefined };
}

/** Reads the name of the entry that a page begins behind. */
function entryIn(token: string): string | null {
  try {
    const text = atob(token);
    return text.startsWith(PREFIX) ? text.slice(PREFIX.length) : null;
  } catch {
    // No base64.
    return null;
  }
}

const PREFIX = "after:";

/** Token of the page of an AWS list that begins behind an entry, whatever is added or deleted meanwhile. */
export function pageTokenAfter(entry: string): string {
  return btoa(PREFIX + entry);
}

/** The entry that a page begins behind, "" for the first page; `null` for a token that this broker did not give. */
export function entryBeforePage(token: string | undefined): string | null {
  if (token === undefined || token === "") return "";
  try {
    const text = atob(token);
    return text.startsWith(PREFIX) ? text.slice(PREFIX.length) : null;
  } catch {
    // No base64.
    return null;
  }
}

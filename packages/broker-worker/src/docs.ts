import type { QueueDirectory } from "@sluice/gateway";

/** Longest that a search may take, in ms. */
const SEARCH_MS_MAX = 5_000;

/**
 * Makes the search in the documentation, which the process that runs this broker has; `null` on a deployed broker.
 *
 * @param url `SLUICE_STACKS`, base URL of that process's service; absent on a deployed broker.
 */
export function docsOf(url: string | undefined): QueueDirectory["searchDocs"] {
  if (url === undefined) return null;
  return async (body) => {
    const signal = AbortSignal.timeout(SEARCH_MS_MAX);
    const response = await fetch(`${url}/docs`, { method: "POST", body, signal });
    return response.ok ? response.json() : [];
  };
}

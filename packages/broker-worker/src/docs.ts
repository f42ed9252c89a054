import type { QueueDirectory } from "@sluice/gateway";

/** Longest that a search may take, in ms. */
const SEARCH_MS_MAX = 5_000;

/**
 * Searches the documentation by way of the process that runs this broker, whose files it is in.
 *
 * @param url `SLUICE_STACKS`, below which that process answers; absent on a deployed broker.
 */
export function docsOf(url: string | undefined): QueueDirectory["searchDocs"] {
  if (url === undefined) return null;
  return async (body) => {
    const signal = AbortSignal.timeout(SEARCH_MS_MAX);
    const response = await fetch(`${url}/docs`, { method: "POST", body, signal });
    return response.ok ? response.json() : [];
  };
}

import type { EndpointOutcome, EndpointPort, EndpointRequest } from "./endpoint.ts";

/** Calls endpoints with the platform's `fetch`. Redirects are not followed: they could lead anywhere. */
export const httpPort: EndpointPort = {
  async post(request: EndpointRequest): Promise<EndpointOutcome> {
    const { url, headers, body, connectTimeoutMs, responseTimeoutMs } = request;
    try {
      const signal = AbortSignal.timeout(responseTimeoutMs);
      const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
      // Nobody reads it; left alone, it would keep the connection.
      await response.body?.cancel();
      return {
        kind: "answered",
        status: response.status,
        retryAfter: response.headers.get("retry-after"),
      };
    } catch (error) {
      if (isTimeout(error)) {
        return { kind: "timedOut", reason: `it did not answer within ${responseTimeoutMs / 1000} s` };
      }
      if (connectTimeoutMs === null) return { kind: "closed", reason: "it could not be reached, or hung up" };
      // A lost connection and one that was never made look the same.
      return (await answers(url, "HEAD", connectTimeoutMs)) === null
        ? { kind: "unreachable", reason: "it cannot be reached" }
        : { kind: "closed", reason: "it closed the connection without an answer" };
    }
  },

  async isReady(url: string, path: string | null, timeoutMs: number): Promise<boolean> {
    if (path === null) return (await answers(url, "HEAD", timeoutMs)) !== null;
    return (await answers(new URL(path, url).href, "GET", timeoutMs)) === 200;
  },
};

/** The status that a URL answers with, `null` if none. */
async function answers(url: string, method: "HEAD" | "GET", timeoutMs: number): Promise<number | null> {
  try {
    const response = await fetch(url, { method, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

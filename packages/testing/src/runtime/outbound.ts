import type { Request as WorkerdRequest, Response as WorkerdResponse } from "miniflare";
import { requireOfWrangler } from "sluice/workers";
import type { QueueRuntimeOptions } from "../api.ts";
import { callBack } from "./exploration.ts";

/** Header of an answer whose text is thrown where the request was made. `host.js` says the same. */
const THROWN_HEADER = "sluice-testing-thrown";

/** Answers a request, of a Worker or of a queue. */
export type Handler = (request: Request) => Promise<Response> | Response;

/**
 * Answers the requests that leave the Workers, as `outbound` says.
 *
 * @returns rejects for a request that is refused.
 */
export function outboundHandler(outbound: QueueRuntimeOptions["outbound"]): Handler {
  if (typeof outbound === "function") return async (request) => outbound(request);
  if (outbound === "network") return (request) => fetch(request);
  return async ({ method, url }) => {
    throw new Error(
      `${method} ${url}: nothing leaves a test. Answer it by the option ` +
        '`outbound: (request) => new Response()` of createQueueRuntime, or let it out by `outbound: "network"`.',
    );
  };
}

/** A handler as `Outbound` of `host.js` calls it: what it throws is thrown where the request was made. */
export function throwingThere(handler: Handler) {
  return (request: WorkerdRequest): Promise<WorkerdResponse> =>
    answered(request, handler).catch((error: unknown) => {
      const { Response: Answer } = requireOfWrangler<typeof import("miniflare")>("miniflare");
      const text = error instanceof Error ? error.message : String(error);
      return new Answer(text, { status: 500, headers: { [THROWN_HEADER]: "true" } });
    });
}

/**
 * Has a function of Node.js answer a request of workerd.
 *
 * @throws whatever the function throws.
 */
export async function answered(request: WorkerdRequest, handler: Handler): Promise<WorkerdResponse> {
  const { Response: Answer } = requireOfWrangler<typeof import("miniflare")>("miniflare");
  const { method, url } = request;
  const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
  const given = new Request(url, { method, headers: [...request.headers], body, redirect: "manual" });
  const response = await callBack(() => handler(given));
  const { status, headers } = response;
  const content = await response.arrayBuffer();
  return new Answer(content.byteLength === 0 ? null : content, { status, headers: [...headers] });
}

import { requireOfWrangler } from "@sluice/project/wrangler/load-wrangler";
import type { Request as WorkerdRequest, Response as WorkerdResponse } from "miniflare";
import type { QueueRuntimeOptions } from "../api.ts";
import { callBack } from "./exploration.ts";
import type { OpenCalls } from "./open-calls.ts";

/** Header of an answer whose text is thrown where the request was made. `host.js` has the same. */
const THROWN_HEADER = "sluice-testing-thrown";

/** Answers a request of a Worker or of a queue. */
export type Handler = (request: Request) => Promise<Response> | Response;

/** Handler of requests, with its name in error texts. */
export interface Answering {
  readonly name: string;
  readonly handler: Handler;
}

/** Makes the handler of requests that leave the Workers. It rejects for a request that is refused. */
export function outboundHandler(outbound: QueueRuntimeOptions["outbound"]): Answering {
  if (typeof outbound === "function") return { name: "outbound", handler: outbound };
  if (outbound === "network") return { name: "the network", handler: (request) => fetch(request) };
  return {
    name: "outbound",
    handler: ({ method, url }) => {
      throw new Error(
        `${method} ${url}: nothing leaves a test. Answer it by the option ` +
          '`outbound: (request) => new Response()` of createQueueRuntime, or let it out by `outbound: "network"`.',
      );
    },
  };
}

/** Makes the handler for `Outbound` in `host.js`, which throws an error of the function at the Worker's request. */
export function throwingThere(answering: Answering, calls: OpenCalls) {
  return (request: WorkerdRequest): Promise<WorkerdResponse> =>
    answered(request, answering, calls).catch((error: unknown) => {
      const { Response: MiniflareResponse } = requireOfWrangler<typeof import("miniflare")>("miniflare");
      const text = error instanceof Error ? error.message : String(error);
      return new MiniflareResponse(text, { status: 500, headers: { [THROWN_HEADER]: "true" } });
    });
}

/**
 * Answers a request of workerd by a function in Node.js.
 *
 * @throws TypeError for a function that returns no response.
 * @throws the function's error.
 */
export async function answered(
  request: WorkerdRequest,
  { name, handler }: Answering,
  calls: OpenCalls,
): Promise<WorkerdResponse> {
  const { Response: MiniflareResponse } = requireOfWrangler<typeof import("miniflare")>("miniflare");
  const { method, url } = request;
  const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
  const given = new Request(url, { method, headers: [...request.headers], body, redirect: "manual" });
  const { status, headers, content } = await calls.request(
    `${method} ${url}: ${name} has not answered`,
    async () => {
      const response: unknown = await callBack(async () => handler(given));
      if (!isResponse(response)) throw new TypeError(`${method} ${url}: ${name} has to return a Response.`);
      const { status, headers } = response;
      return { status, headers, content: await response.arrayBuffer() };
    },
  );
  return new MiniflareResponse(content.byteLength === 0 ? null : content, { status, headers: [...headers] });
}

/** Whether it is a Response, also of a test environment's own class. */
function isResponse(value: unknown): value is Response {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "arrayBuffer") === "function" &&
    typeof Reflect.get(value, "status") === "number"
  );
}

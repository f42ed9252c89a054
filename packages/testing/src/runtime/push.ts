import type { Project } from "@sluice/project/read/project";
import { requireOfWrangler } from "@sluice/project/wrangler/load-wrangler";
import type { Request as WorkerdRequest, Response as WorkerdResponse } from "miniflare";
import type { QueueRuntimeOptions } from "../api.ts";
import type { OpenCalls } from "./open-calls.ts";
import { type Answering, answered } from "./outbound.ts";

/**
 * Makes the handler of requests to the HTTP endpoints of queues: the functions of `push` by queue, else `others`, which
 * answers the Workers' own requests.
 *
 * @throws TypeError for a function for a queue without an endpoint.
 */
export function pushHandler(
  push: NonNullable<QueueRuntimeOptions["push"]>,
  { topology }: Project,
  others: Answering,
  calls: OpenCalls,
) {
  const { Response: MiniflareResponse } = requireOfWrangler<typeof import("miniflare")>("miniflare");
  const queuesByUrl = new Map<string, string>();
  for (const [name, { consumer }] of Object.entries(topology.queues)) {
    if (consumer?.type === "http_push") queuesByUrl.set(new URL(consumer.settings.url).href, name);
  }
  for (const name of Object.keys(push)) {
    if (topology.queues[name]?.consumer?.type === "http_push") continue;
    throw new TypeError(`push: queue "${name}" has no HTTP endpoint in the configuration.`);
  }
  return async (request: WorkerdRequest): Promise<WorkerdResponse> => {
    const queue = request.headers.get("sluice-queue") ?? queuesByUrl.get(request.url) ?? "";
    const handler = Object.hasOwn(push, queue) ? push[queue] : undefined;
    const answering = handler === undefined ? others : { name: `push.${queue}`, handler };
    try {
      return await answered(request, answering, calls);
    } catch (error) {
      return new MiniflareResponse(String(error), { status: 500 });
    }
  };
}

import { Hono } from "hono";
import type { QueueDirectory } from "../../queue-directory.ts";
import { API_CODES, ApiError } from "../api-error.ts";
import { succeed } from "../envelope.ts";

/**
 * The little that is true here of Workers. This broker keeps queues: it knows the Workers that produce or consume by their
 * names, and cannot take an upload. `wrangler triggers deploy` gets by with that; `wrangler deploy` ends at its upload with
 * an error that says so (spec cloudflare-queues 6.5).
 */
export function workerRoutes({ account }: QueueDirectory): Hono {
  const app = new Hono();

  app.get("/services/:script", async (c) => {
    const script = c.req.param("script");
    const records = await account.list();
    const isKnown = records.some(
      ({ definition: { producers, consumer } }) =>
        producers.some(({ worker }) => worker === script) ||
        (consumer?.type === "worker" && consumer.worker === script),
    );
    if (!isKnown) {
      const text = `No queue has a producer or consumer called "${script}", and this broker knows no other Workers.`;
      throw new ApiError(404, API_CODES.serviceNotFound, text);
    }
    return succeed(c, {
      id: script,
      default_environment: { environment: "production", script: { id: script, tag: script, tags: null } },
    });
  });

  app.all("*", (c) => {
    throw new ApiError(
      404,
      API_CODES.noRoute,
      `No route for ${c.req.method} ${c.req.path}: this broker keeps queues, Workers cannot be uploaded to it. ` +
        "Unset CLOUDFLARE_API_BASE_URL to deploy them to Cloudflare, or run them with sluice dev.",
    );
  });

  return app;
}

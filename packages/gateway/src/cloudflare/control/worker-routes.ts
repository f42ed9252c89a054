import { Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { API_CODES, ApiError } from "../api-error.ts";
import { succeed } from "../envelope.ts";
import { readJson } from "../json-body.ts";

const NO_SUBDOMAIN = { enabled: false, previews_enabled: false } as const;

/**
 * Routes of Workers, as far as a broker has them: it knows the names of those that produce or consume, gives none an
 * address under workers.dev, and takes no upload. That suffices for `wrangler triggers deploy`; `wrangler deploy` ends
 * at its upload with an error that says so (spec cloudflare-queues 6.5).
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

  app.get("/workers/:script", (c) => {
    const script = c.req.param("script");
    return succeed(c, { id: script, name: script, subdomain: NO_SUBDOMAIN });
  });

  app.post("/scripts/:script/subdomain", async (c) => {
    const { enabled } = await readJson(c, z.object({ enabled: z.boolean() }));
    if (!enabled) return succeed(c, NO_SUBDOMAIN);
    const text = "This broker serves no Workers under workers.dev: set workers_dev = false.";
    throw new ApiError(404, API_CODES.noRoute, text);
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

import { Hono } from "hono";
import type { QueueDirectory } from "../account/queue-directory.ts";
import { PREFIX } from "../http/prefix.ts";
import type { Authority } from "../rights/authority.ts";
import { API_CODES, ApiError } from "./api-error.ts";
import { authenticate } from "./authenticate.ts";
import { consumerRoutes } from "./control/consumer-routes.ts";
import { identityRoutes } from "./control/identity-routes.ts";
import { purgeRoutes } from "./control/purge-routes.ts";
import { queueRoutes } from "./control/queue-routes.ts";
import { r2Routes } from "./control/r2-routes.ts";
import { subscriptionRoutes } from "./control/subscription-routes.ts";
import { workerRoutes } from "./control/worker-routes.ts";
import { dataRoutes } from "./data/routes.ts";
import { fail } from "./envelope.ts";

/**
 * Routes of Cloudflare's REST API for queues, which `CLOUDFLARE_API_BASE_URL` of Wrangler and `CLOUDFLARE_BASE_URL` of
 * the SDK point at. Every failure, unknown paths included, is answered in the API's own envelope.
 */
export function cloudflareRoutes(directory: QueueDirectory, authority: Authority): Hono {
  const app = new Hono();
  app.use(authenticate(authority, directory.audit, `${PREFIX}/client/v4`));
  app.route("/", controlRoutes(directory));
  app.route("/", dataRoutes(directory));
  app.all("*", (c) => {
    throw new ApiError(
      404,
      API_CODES.noRoute,
      `No route for ${c.req.method} ${c.req.path}: this broker has the queues part of Cloudflare's API only.`,
    );
  });
  app.onError((error, c) => {
    if (error instanceof ApiError) return fail(c, error);
    console.error(`${c.req.method} ${c.req.path} failed: ${error.stack ?? error}`);
    return fail(c, { status: 500, code: 15000, message: "The broker failed; its log says why." });
  });
  return app;
}

/**
 * Routes of the control plane of Cloudflare Queues (spec cloudflare-queues 6). Every account id is this broker's one
 * account.
 */
export function controlRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  app.route("/accounts/:account_id/queues", queueRoutes(directory));
  app.route("/accounts/:account_id/queues", consumerRoutes(directory));
  app.route("/accounts/:account_id/queues", purgeRoutes(directory));
  app.route("/accounts/:account_id/event_subscriptions/subscriptions", subscriptionRoutes(directory));
  app.route("/accounts/:account_id/event_notifications/r2", r2Routes(directory));
  app.route("/accounts/:account_id/workers", workerRoutes(directory));
  app.route("/", identityRoutes());
  return app;
}

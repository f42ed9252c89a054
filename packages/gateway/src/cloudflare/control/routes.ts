import { Hono } from "hono";
import type { QueueDirectory } from "../../queue-directory.ts";
import { consumerRoutes } from "./consumer-routes.ts";
import { identityRoutes } from "./identity-routes.ts";
import { purgeRoutes } from "./purge-routes.ts";
import { queueRoutes } from "./queue-routes.ts";
import { subscriptionRoutes } from "./subscription-routes.ts";
import { workerRoutes } from "./worker-routes.ts";

/** The control plane of Cloudflare Queues (spec cloudflare-queues 6). Every account id is this broker's one account. */
export function controlRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  app.route("/accounts/:account_id/queues", queueRoutes(directory));
  app.route("/accounts/:account_id/queues", consumerRoutes(directory));
  app.route("/accounts/:account_id/queues", purgeRoutes(directory));
  app.route("/accounts/:account_id/event_subscriptions/subscriptions", subscriptionRoutes(directory));
  app.route("/accounts/:account_id/workers", workerRoutes(directory));
  app.route("/", identityRoutes());
  return app;
}

import { Hono } from "hono";
import { eventSamples } from "../account/event-samples.ts";
import type { QueueDirectory } from "../account/queue-directory.ts";
import type { Waits } from "../account/waits.ts";
import { PREFIX } from "../http/prefix.ts";
import type { Authority } from "../rights/authority.ts";
import { auditRoutes } from "./access/audit-routes.ts";
import { guard } from "./access/guard.ts";
import { tokenRoutes } from "./access/token-routes.ts";
import { alertRoutes, silenceRoutes } from "./alerts/alert-routes.ts";
import { backupRoutes } from "./backup/backup-routes.ts";
import type { DialectRestoring } from "./backup/restore.ts";
import { clockRoutes } from "./development/clock-routes.ts";
import { faultRoutes } from "./development/fault-routes.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { answerFailure } from "./failure.ts";
import { historyRoutes } from "./history/history-routes.ts";
import { streamRoutes } from "./history/stream-routes.ts";
import { actionRoutes } from "./messages/action-routes.ts";
import { batchRoute } from "./messages/batch-route.ts";
import { bulkRoutes } from "./messages/bulk-routes.ts";
import { leaseRoutes } from "./messages/lease-routes.ts";
import { lookRoutes } from "./messages/look-routes.ts";
import { openApiDocument } from "./openapi/document.ts";
import { processRoutes } from "./process-routes.ts";
import { queueRoutes } from "./queues/queue-routes.ts";
import { searchRoutes } from "./search/search-routes.ts";
import { topicRoutes } from "./topics/topic-routes.ts";

/**
 * Routes of the admin API. `GET /` lists them, `GET /openapi.json` describes it.
 *
 * Errors are `{"error": {"code", "message"}}` with a fitting status. Pages of other origins may change nothing (403,
 * `other_origin`).
 */
export function adminRoutes(
  directory: QueueDirectory,
  authority: Authority,
  waits: Waits,
  restoring: DialectRestoring,
): Hono {
  const app = new Hono();
  app.use(guard(authority, directory.audit, PREFIX));
  app.get("/", (c) => c.json({ endpoints: ENDPOINTS }));
  app.get("/openapi.json", (c) => c.json(openApiDocument()));
  app.get("/event-samples", (c) => c.json({ samples: eventSamples(Date.now()) }));
  app.route("/queues", queueRoutes(directory));
  app.route("/queues", historyRoutes(directory));
  app.route("/queues", lookRoutes(directory));
  app.route("/queues", batchRoute(directory));
  app.route("/queues", leaseRoutes(directory));
  app.route("/queues", actionRoutes(directory));
  app.route("/queues", bulkRoutes(directory));
  app.route("/queues", faultRoutes(directory));
  app.route("/queues", silenceRoutes(directory));
  app.route("/alerts", alertRoutes(directory));
  app.route("/search", searchRoutes(directory));
  app.route("/events", streamRoutes(directory, waits));
  app.route("/topics", topicRoutes(directory));
  app.route("/tokens", tokenRoutes(directory, authority));
  app.route("/backup", backupRoutes(directory, restoring));
  app.route("/audit", auditRoutes(directory));
  app.route("/clock", clockRoutes(directory));
  app.route("/", processRoutes(directory, waits));
  app.onError(answerFailure);
  return app;
}

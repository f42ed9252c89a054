import { needsOf } from "../../rights/rights.ts";
import type { RouteNeeds } from "../../rights/route-needs.ts";

const { READ, SEND, CONSUME, ADMIN, changing } = needsOf("one");
const { READ: READ_LISTED } = needsOf("listed");
const { READ: READ_EVERY, ADMIN: ADMIN_EVERY, changing: changingEvery } = needsOf("every");

const QUEUE = "/api/queues/:name";

/**
 * Needs of each route of the admin API, of the metrics, and of MCP. A route that is not here needs the scope `admin`
 * for all queues.
 */
export const ADMIN_NEEDS: RouteNeeds = {
  "GET /api": { scope: "any", queues: "none" },
  "GET /api/openapi.json": { scope: "any", queues: "none" },
  "GET /api/queues": READ_LISTED,
  [`GET ${QUEUE}`]: READ,
  [`GET ${QUEUE}/shards`]: READ,
  [`PUT ${QUEUE}/shards`]: changing("queue.change"),
  [`GET ${QUEUE}/messages`]: READ,
  [`POST ${QUEUE}/messages`]: SEND,
  [`POST ${QUEUE}/messages/batch`]: SEND,
  [`GET ${QUEUE}/messages/:id`]: READ,
  [`DELETE ${QUEUE}/messages/:id`]: CONSUME,
  [`POST ${QUEUE}/messages/:id/retry`]: CONSUME,
  [`POST ${QUEUE}/messages/retry`]: changing("queue.messages.retry"),
  [`POST ${QUEUE}/messages/delete`]: changing("queue.messages.delete"),
  [`POST ${QUEUE}/messages/lease`]: CONSUME,
  [`POST ${QUEUE}/messages/settle`]: CONSUME,
  [`GET ${QUEUE}/errors`]: READ,
  // A resend reads a message, too: with SEND alone a caller could read messages by sending them elsewhere.
  [`POST ${QUEUE}/messages/:id/resend`]: ADMIN,
  // A story leads through several queues.
  [`GET ${QUEUE}/messages/:id/story`]: READ_EVERY,
  [`GET ${QUEUE}/why`]: READ,
  [`GET ${QUEUE}/history`]: READ,
  [`GET ${QUEUE}/figures`]: READ,
  [`POST ${QUEUE}/pause`]: changing("queue.pause"),
  [`POST ${QUEUE}/resume`]: changing("queue.resume"),
  [`POST ${QUEUE}/purge`]: changing("queue.purge"),
  [`POST ${QUEUE}/redrive`]: changing("queue.redrive"),
  [`POST ${QUEUE}/redrive/cancel`]: changing("queue.redrive.cancel"),
  [`POST ${QUEUE}/drain`]: ADMIN,
  [`GET ${QUEUE}/faults`]: READ,
  [`PUT ${QUEUE}/faults`]: changing("queue.faults"),
  [`DELETE ${QUEUE}/faults`]: changing("queue.faults"),
  [`PUT ${QUEUE}/silence`]: changing("queue.silence"),
  [`DELETE ${QUEUE}/silence`]: changing("queue.silence"),
  "GET /api/alerts": READ_LISTED,
  "POST /api/alerts/test": changingEvery("alerts.test"),
  "GET /api/search": READ_LISTED,
  "GET /api/events": READ_LISTED,
  "GET /api/event-samples": { scope: "any", queues: "none" },
  "GET /api/topics": READ_EVERY,
  "GET /api/topics/:arn": READ_EVERY,
  "GET /api/clock": { scope: "read", queues: "none" },
  "POST /api/clock": changingEvery("clock.move"),
  "POST /api/stop": changingEvery("broker.stop"),
  "POST /api/disk": ADMIN_EVERY,
  "POST /api/system-clock": ADMIN_EVERY,
  "GET /api/r2": ADMIN_EVERY,
  "POST /api/r2": ADMIN_EVERY,
  "GET /api/audit": ADMIN_EVERY,
  "GET /api/tokens": ADMIN_EVERY,
  "POST /api/tokens": changingEvery("token.create"),
  "DELETE /api/tokens/:name": changingEvery("token.revoke"),
  "POST /api/tokens/:name/rotate": changingEvery("token.rotate"),
  "GET /api/backup": ADMIN_EVERY,
  "GET /api/backup/messages": ADMIN_EVERY,
  "POST /api/backup/queues": changingEvery("queue.create"),
  "POST /api/backup/topics": changingEvery("topic.create"),
  "POST /api/backup/topic-subscriptions": changingEvery("topic.subscribe"),
  "POST /api/backup/subscriptions": changingEvery("subscription.create"),
  "POST /api/backup/messages": ADMIN_EVERY,
  "GET /metrics": READ_EVERY,
  // Each tool of MCP calls the routes above as the same caller.
  "POST /mcp": { scope: "any", queues: "none" },
};

import type { Need } from "../rights/rights.ts";
import type { RouteNeeds } from "../rights/route-needs.ts";

const READ: Need = { scope: "read", queues: "one" };
const READ_LISTED: Need = { scope: "read", queues: "listed" };
const READ_EVERY: Need = { scope: "read", queues: "every" };
const SEND: Need = { scope: "send", queues: "one" };
const CONSUME: Need = { scope: "consume", queues: "one" };
const ADMIN: Need = { scope: "admin", queues: "one" };
const ADMIN_EVERY: Need = { scope: "admin", queues: "every" };

const QUEUE = "/api/queues/:name";

/** What each route of the admin API, and of the metrics, needs. A route that is not here is the administrator's. */
export const ADMIN_NEEDS: RouteNeeds = {
  "GET /api": { scope: "any", queues: "none" },
  "GET /api/queues": READ_LISTED,
  [`GET ${QUEUE}`]: READ,
  [`GET ${QUEUE}/messages`]: READ,
  [`POST ${QUEUE}/messages`]: SEND,
  [`POST ${QUEUE}/messages/batch`]: SEND,
  [`GET ${QUEUE}/messages/:id`]: READ,
  [`DELETE ${QUEUE}/messages/:id`]: CONSUME,
  [`POST ${QUEUE}/messages/:id/retry`]: CONSUME,
  // It sends what it reads: who may only send must not look at messages by having them sent elsewhere.
  [`POST ${QUEUE}/messages/:id/resend`]: ADMIN,
  // A story leads over queues.
  [`GET ${QUEUE}/messages/:id/story`]: READ_EVERY,
  [`GET ${QUEUE}/why`]: READ,
  [`GET ${QUEUE}/history`]: READ,
  [`POST ${QUEUE}/pause`]: ADMIN,
  [`POST ${QUEUE}/resume`]: ADMIN,
  [`POST ${QUEUE}/purge`]: ADMIN,
  [`POST ${QUEUE}/redrive`]: ADMIN,
  [`POST ${QUEUE}/redrive/cancel`]: ADMIN,
  [`POST ${QUEUE}/drain`]: ADMIN,
  [`GET ${QUEUE}/faults`]: READ,
  [`PUT ${QUEUE}/faults`]: ADMIN,
  [`DELETE ${QUEUE}/faults`]: ADMIN,
  "GET /api/events": READ_LISTED,
  "GET /api/topics": READ_EVERY,
  "GET /api/topics/:arn": READ_EVERY,
  "GET /api/clock": { scope: "read", queues: "none" },
  "POST /api/clock": ADMIN_EVERY,
  "POST /api/stop": ADMIN_EVERY,
  "POST /api/disk": ADMIN_EVERY,
  "GET /api/tokens": ADMIN_EVERY,
  "POST /api/tokens": ADMIN_EVERY,
  "DELETE /api/tokens/:name": ADMIN_EVERY,
  "POST /api/tokens/:name/rotate": ADMIN_EVERY,
  "GET /metrics": READ_EVERY,
};

import type { Need } from "../rights/rights.ts";
import type { RouteNeeds } from "../rights/route-needs.ts";

const ANYBODY: Need = { scope: "any", queues: "none" };
const READ: Need = { scope: "read", queues: "one" };
const ADMIN: Need = { scope: "admin", queues: "one" };
const CONSUME: Need = { scope: "consume", queues: "one" };
const SEND: Need = { scope: "send", queues: "one" };
const READ_EVERY: Need = { scope: "read", queues: "every" };
const ADMIN_EVERY: Need = { scope: "admin", queues: "every" };

const QUEUES = "/accounts/:account_id/queues";
const QUEUE = `${QUEUES}/:queue_id`;
const CONSUMER = `${QUEUE}/consumers/:consumer_id`;
const SUBSCRIPTIONS = "/accounts/:account_id/event_subscriptions/subscriptions";
const WORKERS = "/accounts/:account_id/workers";

/** What each route of the API needs. A route that is not here is the administrator's. */
export const CLOUDFLARE_NEEDS: RouteNeeds = {
  [`GET ${QUEUES}`]: { scope: "read", queues: "listed" },
  [`POST ${QUEUES}`]: ADMIN,
  [`GET ${QUEUE}`]: READ,
  [`PUT ${QUEUE}`]: ADMIN,
  [`PATCH ${QUEUE}`]: ADMIN,
  [`DELETE ${QUEUE}`]: ADMIN,
  [`GET ${QUEUE}/metrics`]: READ,
  [`GET ${QUEUE}/consumers`]: READ,
  [`POST ${QUEUE}/consumers`]: ADMIN,
  [`GET ${CONSUMER}`]: READ,
  [`PUT ${CONSUMER}`]: ADMIN,
  [`DELETE ${CONSUMER}`]: ADMIN,
  [`GET ${QUEUE}/purge`]: READ,
  [`POST ${QUEUE}/purge`]: ADMIN,
  [`POST ${QUEUE}/messages`]: SEND,
  [`POST ${QUEUE}/messages/batch`]: SEND,
  [`POST ${QUEUE}/messages/pull`]: CONSUME,
  [`POST ${QUEUE}/messages/ack`]: CONSUME,
  [`POST ${QUEUE}/messages/peek`]: READ,
  [`POST ${QUEUE}/messages/purge`]: ADMIN,
  [`GET ${SUBSCRIPTIONS}`]: READ_EVERY,
  [`POST ${SUBSCRIPTIONS}`]: ADMIN_EVERY,
  [`GET ${SUBSCRIPTIONS}/:subscription_id`]: READ_EVERY,
  [`PATCH ${SUBSCRIPTIONS}/:subscription_id`]: ADMIN_EVERY,
  [`DELETE ${SUBSCRIPTIONS}/:subscription_id`]: ADMIN_EVERY,
  [`GET ${WORKERS}/services/:script`]: READ_EVERY,
  [`GET ${WORKERS}/workers/:script`]: READ_EVERY,
  [`POST ${WORKERS}/scripts/:script/subdomain`]: ADMIN_EVERY,
  "GET /accounts": ANYBODY,
  "GET /accounts/:account_id": ANYBODY,
  "GET /memberships": ANYBODY,
  "GET /user": ANYBODY,
  "GET /user/tokens/verify": ANYBODY,
  "GET /accounts/:account_id/tokens/verify": ANYBODY,
};

import { type Need, needsOf } from "../rights/rights.ts";
import type { RouteNeeds } from "../rights/route-needs.ts";

const ANYBODY: Need = { scope: "any", queues: "none" };
const { READ, CONSUME, SEND, changing } = needsOf("one");
const { READ: READ_EVERY, ADMIN: ADMIN_EVERY, changing: changingEvery } = needsOf("every");

const QUEUES = "/accounts/:account_id/queues";
const QUEUE = `${QUEUES}/:queue_id`;
const CONSUMER = `${QUEUE}/consumers/:consumer_id`;
const SUBSCRIPTIONS = "/accounts/:account_id/event_subscriptions/subscriptions";
const R2_RULES = "/accounts/:account_id/event_notifications/r2/:bucket/configuration";
const WORKERS = "/accounts/:account_id/workers";

/** Needs of each route of the API. A route that is not here needs the scope `admin` for all queues. */
export const CLOUDFLARE_NEEDS: RouteNeeds = {
  [`GET ${QUEUES}`]: { scope: "read", queues: "listed" },
  [`POST ${QUEUES}`]: changing("queue.create"),
  [`GET ${QUEUE}`]: READ,
  [`PUT ${QUEUE}`]: changing("queue.change"),
  [`PATCH ${QUEUE}`]: changing("queue.change"),
  [`DELETE ${QUEUE}`]: changing("queue.delete"),
  [`GET ${QUEUE}/metrics`]: READ,
  [`GET ${QUEUE}/consumers`]: READ,
  [`POST ${QUEUE}/consumers`]: changing("consumer.set"),
  [`GET ${CONSUMER}`]: READ,
  [`PUT ${CONSUMER}`]: changing("consumer.set"),
  [`DELETE ${CONSUMER}`]: changing("consumer.remove"),
  [`GET ${QUEUE}/purge`]: READ,
  [`POST ${QUEUE}/purge`]: changing("queue.purge"),
  [`POST ${QUEUE}/messages`]: SEND,
  [`POST ${QUEUE}/messages/batch`]: SEND,
  [`POST ${QUEUE}/messages/pull`]: CONSUME,
  [`POST ${QUEUE}/messages/ack`]: CONSUME,
  [`POST ${QUEUE}/messages/peek`]: READ,
  [`POST ${QUEUE}/messages/purge`]: CONSUME,
  [`GET ${SUBSCRIPTIONS}`]: READ_EVERY,
  [`POST ${SUBSCRIPTIONS}`]: changingEvery("subscription.create"),
  [`GET ${SUBSCRIPTIONS}/:subscription_id`]: READ_EVERY,
  [`PATCH ${SUBSCRIPTIONS}/:subscription_id`]: changingEvery("subscription.change"),
  [`DELETE ${SUBSCRIPTIONS}/:subscription_id`]: changingEvery("subscription.delete"),
  [`GET ${R2_RULES}`]: READ_EVERY,
  [`GET ${R2_RULES}/queues/:queue_id`]: READ,
  [`PUT ${R2_RULES}/queues/:queue_id`]: changing("r2_notification.create"),
  [`DELETE ${R2_RULES}/queues/:queue_id`]: changing("r2_notification.delete"),
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

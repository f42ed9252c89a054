import { parseArn, uuidOf } from "@sluice/aws";
import {
  CONFIRMATION_TOKEN_MS,
  type Confirmation,
  type ConfirmationToken,
  endpointQueueName,
  FIFO_TOPIC_SUBSCRIPTIONS_MAX,
  FILTER_POLICIES_MAX,
  type NewTopicSubscription,
  PENDING_SUBSCRIPTION_MS,
  type SubscriptionStatus,
  TOPIC_FILTER_POLICIES_MAX,
  TOPIC_SUBSCRIPTIONS_MAX,
  type TopicSubscription,
  type TopicSubscriptionChange,
  type TopicSubscriptionReply,
} from "@sluice/protocol";
import { deleteEndpointQueue, syncEndpointQueue } from "./endpoint-queues.ts";
import { refuse, type Topics } from "./topics.ts";

/**
 * Subscribes an endpoint to a topic: confirmed at once, or pending until its token comes back (spec sns-delivery 8.5).
 */
export function subscribe(topics: Topics, given: NewTopicSubscription): TopicSubscriptionReply {
  const { registry, ports } = topics;
  const topic = registry.topic(given.topicArn);
  if (topic === undefined) return refuse({ kind: "topicNotFound" });
  const all = registry.allSubscriptionsOf(given.topicArn);
  const same = all.find(
    ({ protocol, endpoint }) => protocol === given.protocol && endpoint === given.endpoint,
  );
  if (same !== undefined && same.status.kind !== "ended") {
    return refuse({ kind: "subscriptionExists", subscription: same });
  }
  const limit = limitReached(topics, given);
  if (limit !== null) return refuse({ kind: limit });
  if (isInJurisdiction(topics, given.target) || isInJurisdiction(topics, given.deadLetterQueue)) {
    return refuse({ kind: "queueHasJurisdiction" });
  }
  // An ended subscription could be taken back, but subscribing again makes a new one.
  if (same !== undefined) erase(topics, same);
  const subscriptionId = uuidOf(ports.newId());
  const status: SubscriptionStatus =
    given.token === null
      ? { kind: "confirmed", wasAuthenticated: true, authenticateOnUnsubscribe: false, token: null }
      : { kind: "pending", token: tokenOf(topics, given.token) };
  return put(topics, {
    subscriptionId,
    arn: `${given.topicArn}:${subscriptionId}`,
    topicArn: given.topicArn,
    createdOnMs: ports.now(),
    revision: 1,
    protocol: given.protocol,
    endpoint: given.endpoint,
    target: given.target ?? endpointQueueName(subscriptionId),
    deadLetterQueue: given.deadLetterQueue,
    status,
    attributes: given.attributes,
  });
}

/** Replaces the token of a pending subscription. */
export function renewToken(topics: Topics, arn: string, token: string): TopicSubscriptionReply {
  const subscription = topics.registry.subscription(arn);
  if (subscription?.status.kind !== "pending") return refuse({ kind: "subscriptionNotFound" });
  return put(topics, { ...subscription, status: { kind: "pending", token: tokenOf(topics, token) } });
}

/** Confirms the subscription of a token, or takes back an ended one. */
export function confirm(topics: Topics, given: Confirmation): TopicSubscriptionReply {
  const subscription = topics.registry.subscriptionByToken(given.token);
  const token = subscription?.status.token;
  if (subscription === undefined || !token || token.expiresMs <= topics.ports.now()) {
    return refuse({ kind: "tokenUnknown" });
  }
  if (parseArn(subscription.topicArn)?.region !== given.region) return refuse({ kind: "topicOfOtherRegion" });
  if (subscription.status.kind === "confirmed") return { ok: true, subscription };
  const limit = subscription.status.kind === "ended" ? limitReached(topics, subscription) : null;
  if (limit !== null) return refuse({ kind: limit });
  return put(topics, {
    ...subscription,
    revision: subscription.revision + 1,
    status: {
      kind: "confirmed",
      wasAuthenticated: given.isAuthenticated,
      authenticateOnUnsubscribe: given.isAuthenticated && given.authenticateOnUnsubscribe,
      token,
    },
  });
}

/** Replaces the attributes and the dead-letter queue of a subscription whose revision is still `basedOn`. */
export function changeSubscription(
  topics: Topics,
  arn: string,
  { basedOn, attributes, deadLetterQueue }: TopicSubscriptionChange,
): TopicSubscriptionReply {
  const before = topics.registry.subscription(arn);
  if (before === undefined || before.status.kind === "ended") return refuse({ kind: "subscriptionNotFound" });
  if (before.revision !== basedOn) return refuse({ kind: "changedMeanwhile" });
  if (isInJurisdiction(topics, deadLetterQueue)) return refuse({ kind: "queueHasJurisdiction" });
  const adds = attributes.FilterPolicy !== undefined && before.attributes.FilterPolicy === undefined;
  if (adds && isFilterLimitReached(topics, before.topicArn)) return refuse({ kind: "tooManyFilterPolicies" });
  return put(topics, { ...before, revision: before.revision + 1, attributes, deadLetterQueue });
}

/** Ends a subscription for good, or until its endpoint takes it back with the token. */
export function unsubscribe(topics: Topics, arn: string, undoToken: string | null): TopicSubscriptionReply {
  const { registry } = topics;
  const subscription = registry.subscription(arn);
  if (subscription === undefined || subscription.status.kind === "ended") {
    return refuse({ kind: "subscriptionNotFound" });
  }
  const topic = registry.topic(subscription.topicArn);
  if (topic !== undefined) {
    registry.putTopic({ ...topic, endedSubscriptions: topic.endedSubscriptions + 1 });
  }
  if (undoToken === null) erase(topics, subscription);
  else {
    const status = { kind: "ended", token: tokenOf(topics, undoToken) } as const;
    registry.putSubscription({ ...subscription, revision: subscription.revision + 1, status });
  }
  return { ok: true, subscription };
}

/** Deletes subscriptions that were not confirmed, or cannot be taken back any more. @returns whether there were any. */
export function sweep(topics: Topics): boolean {
  const nowMs = topics.ports.now();
  const over = topics.registry.temporary().filter((subscription) => endsMs(subscription) <= nowMs);
  for (const subscription of over) {
    erase(topics, subscription);
    if (subscription.status.kind === "pending") {
      topics.ports.warn(`the subscription "${subscription.arn}" was not confirmed in time and is deleted`);
    }
  }
  return over.length > 0;
}

/** Whether `sweep` would delete any subscription. */
export function isSweepDue({ registry, ports }: Topics): boolean {
  const nowMs = ports.now();
  return registry.temporary().some((subscription) => endsMs(subscription) <= nowMs);
}

function endsMs({ status, createdOnMs }: TopicSubscription): number {
  if (status.kind === "pending") return createdOnMs + PENDING_SUBSCRIPTION_MS;
  return status.kind === "ended" ? status.token.expiresMs : Number.POSITIVE_INFINITY;
}

function put(topics: Topics, subscription: TopicSubscription): TopicSubscriptionReply {
  const topic = topics.registry.topic(subscription.topicArn);
  if (topic === undefined) return refuse({ kind: "topicNotFound" });
  topics.registry.putSubscription(subscription);
  syncEndpointQueue(topics.ports.queues, topic, subscription, topics.ports.settings);
  return { ok: true, subscription };
}

function erase(topics: Topics, subscription: TopicSubscription): void {
  deleteEndpointQueue(topics.ports.queues, subscription);
  topics.registry.eraseSubscription(subscription);
}

/** Whether a queue has to lie in a jurisdiction: the object of a topic would keep its messages outside of it. */
function isInJurisdiction({ ports }: Topics, queue: string | null): boolean {
  return queue !== null && ports.queues.queue(queue)?.record.place !== undefined;
}

/** Finds the limit that a further subscription of a topic would exceed; `null` if none. */
function limitReached(
  topics: Topics,
  { topicArn, attributes }: Pick<TopicSubscription, "topicArn" | "attributes">,
): "tooManySubscriptions" | "tooManyFilterPolicies" | null {
  const { registry } = topics;
  const isFifo = registry.topic(topicArn)?.isFifo === true;
  const max = isFifo ? FIFO_TOPIC_SUBSCRIPTIONS_MAX : TOPIC_SUBSCRIPTIONS_MAX;
  if (registry.subscriptionsOf(topicArn).length >= max) return "tooManySubscriptions";
  const isFiltered = attributes.FilterPolicy !== undefined;
  return isFiltered && isFilterLimitReached(topics, topicArn) ? "tooManyFilterPolicies" : null;
}

function isFilterLimitReached({ registry }: Topics, topicArn: string): boolean {
  const filtered = registry
    .subscriptions()
    .filter(({ attributes, status }) => attributes.FilterPolicy !== undefined && status.kind !== "ended");
  const ofTopic = filtered.filter((subscription) => subscription.topicArn === topicArn);
  return filtered.length >= FILTER_POLICIES_MAX || ofTopic.length >= TOPIC_FILTER_POLICIES_MAX;
}

function tokenOf({ ports }: Topics, text: string): ConfirmationToken {
  return { text, expiresMs: ports.now() + CONFIRMATION_TOKEN_MS };
}

import { parseArn } from "@sluice/aws";
import {
  isEndpointQueue,
  type QueueDescription,
  type TopicDescription,
  type TopicRecord,
  type TopicSubscription,
} from "@sluice/protocol";
import { isFailing } from "@sluice/protocol/words";
import { effectivePolicy, type SubscriptionDocument, type TopicDocument } from "@sluice/retry";
import { type BacklogView, backlogOf, type DamageView, damageViews } from "../backlog-view.ts";
import { timeOf } from "../time.ts";

/** A topic as the list of them shows it. Counts of subscriptions leave out those that have ended. */
export interface TopicView {
  readonly arn: string;
  readonly name: string;
  readonly kind: "standard" | "fifo";
  readonly createdAt: string;
  readonly subscriptions: { readonly confirmed: number; readonly pending: number };
  /** Its HTTP endpoints together; `null` where there are too many to be asked for a list. */
  readonly endpoints: EndpointsView | null;
}

export interface EndpointsView {
  /** Messages that wait for an endpoint, or are on their way to one. */
  readonly waiting: number;
  /** Endpoints that are away, or whose last delivery has failed. */
  readonly failing: number;
}

/** A topic with everything that is known of it. */
export interface TopicDetail extends Omit<TopicView, "endpoints"> {
  /** The topic's own time: in development it can be ahead of the machine's. */
  readonly now: string;
  /** Since when its object has been awake: figures that it keeps in memory begin there. */
  readonly awakeSince: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Messages since the topic's object is awake, without those that a FIFO topic has dropped as duplicates. */
  readonly published: number;
  readonly duplicates: number;
  /** Queues that have not taken all of their copies yet. */
  readonly handOvers: readonly HandOverView[];
  readonly damage: readonly DamageView[];
  /** One page of them, oldest first. */
  readonly subscriptionList: readonly SubscriptionView[];
}

export interface HandOverView {
  readonly queue: string;
  readonly messages: number;
  /** When a queue that could not be reached is called again; `null` while it is being called. */
  readonly nextAttemptAt: string | null;
}

/** A subscription, with the queue that its messages go through. */
export interface SubscriptionView {
  readonly arn: string;
  readonly protocol: string;
  /** Without the password that a URL may have. */
  readonly endpoint: string;
  readonly status: "pending" | "confirmed";
  readonly createdAt: string;
  readonly rawDelivery: boolean;
  /** As it was set; `null` for a subscription that gets everything. */
  readonly filterPolicy: FilterPolicyView | null;
  /** The queue that takes what cannot be delivered; `null` drops it. */
  readonly deadLetterQueue: string | null;
  /** How an HTTP endpoint is called; `null` for a queue, which has settings of its own. */
  readonly delivery: { readonly maxRetries: number; readonly maxReceivesPerSecond: number | null } | null;
  /** The queue of an `sqs` subscription by its name; `null` for an endpoint, whose queue has none. */
  readonly queue: string | null;
  /** `null` where there is no such queue: messages go to the dead-letter queue, or are dropped. */
  readonly backlog: BacklogView | null;
}

/** Which messages a subscription gets. */
export interface FilterPolicyView {
  readonly scope: string;
  readonly policy: string;
  /**
   * Why it cannot be evaluated, so that all messages go to the dead-letter queue or are dropped; `null` for a valid
   * policy.
   */
  readonly fault: string | null;
}

/** Returns the view of a topic. Its counts leave out subscriptions that have ended. */
export function topicView(
  topic: TopicRecord,
  subscriptions: readonly TopicSubscription[],
  endpoints: EndpointsView | null,
): TopicView {
  const count = (kind: string) => subscriptions.filter(({ status }) => status.kind === kind).length;
  return {
    arn: topic.arn,
    name: parseArn(topic.arn)?.resource ?? topic.arn,
    kind: topic.isFifo ? "fifo" : "standard",
    createdAt: timeOf(topic.createdOnMs),
    subscriptions: { confirmed: count("confirmed"), pending: count("pending") },
    endpoints,
  };
}

export function topicDetail(
  topic: TopicRecord,
  subscriptions: readonly TopicSubscription[],
  { nowMs, awakeSinceMs, published, duplicates, handOvers, damage }: TopicDescription,
  subscriptionList: readonly SubscriptionView[],
): TopicDetail {
  const { endpoints: _, ...view } = topicView(topic, subscriptions, null);
  return {
    ...view,
    now: timeOf(nowMs),
    awakeSince: timeOf(awakeSinceMs),
    attributes: topic.attributes,
    published,
    duplicates,
    handOvers: handOvers.map(({ target, messages, retryAtMs }) => ({
      queue: target,
      messages,
      nextAttemptAt: retryAtMs === null ? null : timeOf(retryAtMs),
    })),
    damage: damageViews(damage),
    subscriptionList,
  };
}

/** @param filterPolicyFault why its filter policy cannot be evaluated; `null` if it can. */
export function subscriptionView(
  topic: TopicRecord,
  subscription: TopicSubscription,
  description: QueueDescription | null,
  filterPolicyFault: string | null,
): SubscriptionView {
  const { arn, protocol, endpoint, status, attributes, deadLetterQueue, target, createdOnMs } = subscription;
  const { FilterPolicy: policy, FilterPolicyScope: scope = "MessageAttributes" } = attributes;
  const isEndpoint = isEndpointQueue(target);
  return {
    arn,
    protocol,
    endpoint: withoutPassword(endpoint),
    status: status.kind === "confirmed" ? "confirmed" : "pending",
    createdAt: timeOf(createdOnMs),
    rawDelivery: attributes.RawMessageDelivery === "true",
    filterPolicy: policy === undefined ? null : { scope, policy, fault: filterPolicyFault },
    deadLetterQueue,
    delivery: isEndpoint ? deliveryOf(topic, subscription) : null,
    queue: isEndpoint ? null : target,
    backlog: description === null ? null : backlogOf(description),
  };
}

/** Sums up the endpoints of a topic. */
export function endpointsView(descriptions: readonly QueueDescription[]): EndpointsView {
  const isInTrouble = ({ consumer, ...held }: QueueDescription) =>
    consumer !== null && (!consumer.isPresent || isFailing(consumer.consecutiveFailures, held));
  return {
    waiting: descriptions.reduce((sum, { ready, delayed, leased }) => sum + ready + delayed + leased, 0),
    failing: descriptions.filter(isInTrouble).length,
  };
}

/** Reads the delivery policies, which were checked before they were stored. */
function deliveryOf(topic: TopicRecord, { attributes }: TopicSubscription): SubscriptionView["delivery"] {
  const { healthy, maxReceivesPerSecond } = effectivePolicy(
    documentOf<SubscriptionDocument>(attributes.DeliveryPolicy),
    documentOf<TopicDocument>(topic.attributes.DeliveryPolicy),
  );
  return { maxRetries: healthy.numRetries, maxReceivesPerSecond };
}

function documentOf<Document>(text: string | undefined): Document | null {
  return text === undefined ? null : (JSON.parse(text) as Document);
}

function withoutPassword(endpoint: string): string {
  const url = URL.parse(endpoint);
  if (url === null || url.password === "") return endpoint;
  url.password = "****";
  return url.href;
}

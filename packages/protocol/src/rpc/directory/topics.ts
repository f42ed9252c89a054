import { isShard } from "../../shards/shard-names.ts";
import { ALERTS_QUEUE } from "../../topology/alerts.ts";
import type { SnsSettings } from "../../topology/topology.ts";
import type { QueueDamage } from "../queue/description.ts";
import type { RpcFailure } from "../send.ts";

/*
 * Topics of Amazon SNS: their records in the directory, and the calls of a topic's object (spec sns-delivery 8, 9).
 * Plain data only, and failures as data: it crosses RPC. The edge checks names, attributes and policies in SNS's words.
 */

/** Most topics of an account. */
export const TOPICS_MAX = 10_000;
/** Most subscriptions of a topic: of a FIFO topic as on AWS, of others as many as fit into one commit of a publish. */
export const TOPIC_SUBSCRIPTIONS_MAX = 1_000;
export const FIFO_TOPIC_SUBSCRIPTIONS_MAX = 100;
/** Most filter policies of a topic, and of an account (spec sns-delivery 9.5). */
export const TOPIC_FILTER_POLICIES_MAX = 200;
export const FILTER_POLICIES_MAX = 10_000;
/** How long a token confirms a subscription, in ms: two days (spec sns-delivery 8.5). */
export const CONFIRMATION_TOKEN_MS = 172_800_000;
/** How long an unconfirmed subscription is kept, in ms: three days. */
export const PENDING_SUBSCRIPTION_MS = 259_200_000;

/** Bytes that one `publish` of a topic's object may bring: one commit takes them in, and one call carries them. */
export const PUBLISH_BYTES_MAX = 24_000_000;

/** Makes the name of the object that a topic's messages go through. No queue can have it. */
export function topicObjectName(topicId: string): string {
  return `topic/${topicId}`;
}

/** Makes the name of the queue for a subscription's HTTP endpoint. No queue of any dialect can have it. */
export function endpointQueueName(subscriptionId: string): string {
  return `subscription/${subscriptionId}`;
}

const ENDPOINT_QUEUE_NAME = /^subscription\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is exactly the name of such a queue. */
export function isEndpointQueueName(text: string): boolean {
  return ENDPOINT_QUEUE_NAME.test(text);
}

/** Whether a queue is that of a subscription's HTTP endpoint: no dialect lists it. */
export function isEndpointQueue(queue: string): boolean {
  return queue.startsWith("subscription/");
}

/** Whether a queue is one that no dialect lists: of a subscription, of alerts, or a shard. */
export function isHiddenQueue(queue: string): boolean {
  return isEndpointQueue(queue) || queue === ALERTS_QUEUE || isShard(queue);
}

/** Whether messages that another object transfers come from a topic. */
export function isTopicObject(source: string): boolean {
  return source.startsWith("topic/");
}

/** Attributes by their names, as SNS shows them. */
export type TopicAttributes = Readonly<Record<string, string>>;

/** Record of a topic, times in ms since 1970. A contract: it is stored. Only optional members may be added. */
export interface TopicRecord {
  /** 32 hexadecimal digits, random; a topic that is deleted and created again has another one. */
  readonly topicId: string;
  readonly arn: string;
  readonly createdOnMs: number;
  /** Grows with every change. */
  readonly revision: number;
  /** Whether order is kept and duplicates are dropped. Fixed when the topic is created. */
  readonly isFifo: boolean;
  /** Attributes that were set, in the form in which they are shown; one that has its default is absent. */
  readonly attributes: TopicAttributes;
  readonly tags: Readonly<Record<string, string>>;
  /** Subscriptions that have ended. */
  readonly endedSubscriptions: number;
}

/**
 * - `pending`: the endpoint has been asked, and gets nothing until it confirms (spec sns-delivery 8.5).
 * - `confirmed`: it gets messages.
 * - `ended`: a client that need not be its owner has unsubscribed it. It gets nothing and is not shown. The token undoes
 *   that; when the token expires the subscription is deleted.
 */
export type SubscriptionStatus =
  | { readonly kind: "pending"; readonly token: ConfirmationToken }
  | {
      readonly kind: "confirmed";
      /** Whether the confirmation was signed. */
      readonly wasAuthenticated: boolean;
      /** Whether only a signed request may unsubscribe. */
      readonly authenticateOnUnsubscribe: boolean;
      /** The token that confirmed it, which can be used again; `null` where none was needed. */
      readonly token: ConfirmationToken | null;
    }
  | { readonly kind: "ended"; readonly token: ConfirmationToken };

export interface ConfirmationToken {
  readonly text: string;
  readonly expiresMs: number;
}

export const TOPIC_PROTOCOLS = ["http", "https", "sqs"] as const;
export type TopicProtocol = (typeof TOPIC_PROTOCOLS)[number];

/** Record of a subscription, times in ms since 1970. A contract: it is stored. Only optional members may be added. */
export interface TopicSubscription {
  /** A random UUID. */
  readonly subscriptionId: string;
  readonly arn: string;
  readonly topicArn: string;
  readonly createdOnMs: number;
  /** Grows with every change. */
  readonly revision: number;
  readonly protocol: TopicProtocol;
  /** As it was given: a URL, or the ARN of a queue. */
  readonly endpoint: string;
  /** The queue that takes its messages: that of the ARN, or one that leads to the URL. */
  readonly target: string;
  /** The queue that takes messages that cannot be delivered; `null` drops them. */
  readonly deadLetterQueue: string | null;
  readonly status: SubscriptionStatus;
  /** Attributes that were set, in the form in which they are shown; one that has its default is absent. */
  readonly attributes: TopicAttributes;
}

/** A topic with its subscriptions. */
export interface TopicSnapshot {
  readonly topic: TopicRecord;
  /** Grows with every change of the topic, and of its subscriptions. */
  readonly version: number;
  /** Pending ones included, oldest first. */
  readonly subscriptions: readonly TopicSubscription[];
}

export interface NewTopic {
  readonly arn: string;
  readonly isFifo: boolean;
  readonly attributes: TopicAttributes;
  readonly tags: Readonly<Record<string, string>>;
}

export interface TopicChange {
  /** The revision that the change was made from: the change is refused if there is another one by now. */
  readonly basedOn: number;
  /** Replaces all of them. */
  readonly attributes?: TopicAttributes;
  /** Replaces all of them. */
  readonly tags?: Readonly<Record<string, string>>;
}

export interface NewTopicSubscription {
  readonly topicArn: string;
  readonly protocol: TopicProtocol;
  readonly endpoint: string;
  /** Queue of an `sqs` subscription; `null` gives an HTTP one a queue of its own. */
  readonly target: string | null;
  readonly deadLetterQueue: string | null;
  /** Token that confirms it; `null` for one that needs none. */
  readonly token: string | null;
  readonly attributes: TopicAttributes;
}

export interface TopicSubscriptionChange {
  /** The revision that the change was made from: the change is refused if there is another one by now. */
  readonly basedOn: number;
  /** Replaces all of them. */
  readonly attributes: TopicAttributes;
  readonly deadLetterQueue: string | null;
}

export interface Confirmation {
  readonly token: string;
  /** Region of the topic that the request names: the token's has to be the same. */
  readonly region: string;
  /** Whether the request is signed. */
  readonly isAuthenticated: boolean;
  readonly authenticateOnUnsubscribe: boolean;
}

/** Why the directory refuses a call. SNS has its own words for each. */
export type TopicRefusal =
  | { readonly kind: "topicNotFound" }
  /** There is a topic of that ARN, perhaps with other attributes. */
  | { readonly kind: "topicExists"; readonly topic: TopicRecord }
  | { readonly kind: "changedMeanwhile" }
  | { readonly kind: "tooManyTopics" }
  | { readonly kind: "subscriptionNotFound" }
  /** The endpoint is subscribed already, perhaps with other attributes. */
  | { readonly kind: "subscriptionExists"; readonly subscription: TopicSubscription }
  | { readonly kind: "tooManySubscriptions" }
  /** A topic's object, which may be anywhere, would hold messages of a queue with a jurisdiction. */
  | { readonly kind: "queueHasJurisdiction" }
  | { readonly kind: "tooManyFilterPolicies" }
  /** No subscription waits for that token, or not any more. */
  | { readonly kind: "tokenUnknown" }
  /** The token is that of a subscription in another region. */
  | { readonly kind: "topicOfOtherRegion" };

interface Refused {
  readonly ok: false;
  readonly refusal: TopicRefusal;
}
export type TopicReply = { readonly ok: true; readonly topic: TopicRecord } | Refused;
export type TopicSubscriptionReply =
  | { readonly ok: true; readonly subscription: TopicSubscription }
  | Refused;

/**
 * Key and certificate that notifications are signed with. A contract: it is stored. Only optional members may be added.
 */
export interface SigningIdentity {
  /** PKCS #8, base64. */
  readonly privateKeyPkcs8: string;
  /** PEM; what a receiver checks signatures with. */
  readonly certificatePem: string;
}

/** Methods of the directory for topics that the gateway calls. A change is durable when it is answered. */
export interface TopicsRpc {
  /** Every topic, in order of ARNs. */
  listTopics(): Promise<readonly TopicRecord[]>;
  /** A topic with its subscriptions; `null` if there is none of that ARN. */
  findTopic(arn: string): Promise<TopicSnapshot | null>;
  /** Refused: `topicExists`, `tooManyTopics`. */
  createTopic(topic: NewTopic): Promise<TopicReply>;
  /** Refused: `topicNotFound`, `changedMeanwhile`. */
  changeTopic(arn: string, change: TopicChange): Promise<TopicReply>;
  /** Deletes a topic with its subscriptions, and answers with what it was. Refused: `topicNotFound`. */
  deleteTopic(arn: string): Promise<TopicReply>;
  /** Every subscription of every topic but those that have ended, oldest first. */
  listTopicSubscriptions(): Promise<readonly TopicSubscription[]>;
  /** `null` also for one that has ended. */
  findTopicSubscription(arn: string): Promise<TopicSubscription | null>;
  /** Refused: `topicNotFound`, `subscriptionExists`, `tooManySubscriptions`, `tooManyFilterPolicies`. */
  subscribe(subscription: NewTopicSubscription): Promise<TopicSubscriptionReply>;
  /** Gives a pending subscription another token: it is asked again. Refused: `subscriptionNotFound`. */
  renewToken(arn: string, token: string): Promise<TopicSubscriptionReply>;
  /**
   * Confirms the subscription that waits for the token, or takes back one that has ended. Repeated calls have the same
   * result. Refused: `tokenUnknown`, `topicOfOtherRegion`, `tooManySubscriptions`, `tooManyFilterPolicies`.
   */
  confirmSubscription(confirmation: Confirmation): Promise<TopicSubscriptionReply>;
  /** Refused: `subscriptionNotFound`, `changedMeanwhile`, `tooManyFilterPolicies`. */
  changeTopicSubscription(arn: string, change: TopicSubscriptionChange): Promise<TopicSubscriptionReply>;
  /**
   * Ends a subscription, and answers with what it was. Refused: `subscriptionNotFound`.
   *
   * @param undoToken lets its endpoint take it back for `CONFIRMATION_TOKEN_MS`; `null` deletes it for good.
   */
  unsubscribe(arn: string, undoToken: string | null): Promise<TopicSubscriptionReply>;
  /** Answers with the settings of the configuration for all topics. */
  snsSettings(): Promise<SnsSettings>;
  /** Answers with the identity that notifications are signed with; `null` until `keepSigningIdentity` was called. */
  signingIdentity(): Promise<SigningIdentity | null>;
  /** Keeps an identity if there is none yet, and answers with the one that is kept. */
  keepSigningIdentity(identity: SigningIdentity): Promise<SigningIdentity>;
  /** Lists the objects that are in no list of queues: queues of HTTP subscriptions, and topics. */
  hiddenObjects(): Promise<readonly string[]>;
}

/** A message that is published, with the copies that go to each target. */
export interface PublishedMessage {
  /** 32 hexadecimal digits. */
  readonly messageId: string;
  /** Deduplication id, on FIFO topics only. */
  readonly deduplicationId: string | null;
  readonly groupId: string | null;
  readonly copies: readonly MessageCopy[];
}

/** A message as one target gets it. */
export interface MessageCopy {
  readonly target: string;
  /** One record. */
  readonly packed: Uint8Array;
  /**
   * Offset in `packed` of `SEQUENCE_NUMBER_DIGITS` bytes that the topic puts the sequence number into; `null` for none.
   */
  readonly sequenceNumberAt: number | null;
}

/** Digits of a sequence number. */
export const SEQUENCE_NUMBER_DIGITS = 20;

export interface PublishRequest {
  /** `null` for a standard topic, which neither numbers nor drops anything. */
  readonly deduplicationScope: "topic" | "messageGroup" | null;
  /** Version of the topic that the copies were made by. Absent: the present one is right, whichever it is. */
  readonly version?: number;
  readonly messages: readonly PublishedMessage[];
}

/** Outcome for a published message, in the order of the request; for a duplicate, that of the first one. */
export interface PublishOutcome {
  readonly messageId: string;
  /** `null` on a standard topic. */
  readonly sequenceNumber: string | null;
  readonly duplicate: boolean;
}

/** `outdated`: the topic is known under a later version than the request's, or was deleted. Nothing was taken. */
export type PublishReply =
  | { readonly ok: true; readonly messages: readonly PublishOutcome[] }
  | { readonly ok: "outdated" }
  | RpcFailure;

/** Methods of a topic's object that the gateway calls. */
export interface TopicObjectRpc {
  /** Takes the messages with all their copies, all or none, and answers when they are durable and will arrive. */
  publish(topicObject: string, request: PublishRequest): Promise<PublishReply>;
  describeTopic(topicObject: string): Promise<TopicDescription>;
}

/** State of a topic for people: what the admin API shows. */
export interface TopicDescription {
  /** The topic's own time in ms: in development it can be ahead of the machine's. */
  readonly nowMs: number;
  /** Since when the object has been awake, in ms: counts that it keeps in memory begin there. */
  readonly awakeSinceMs: number;
  /** Messages that were published since the object is awake, without duplicates. */
  readonly published: number;
  /** FIFO topics: messages that were published again within five minutes, and dropped. */
  readonly duplicates: number;
  /** Queues that have not taken all of their copies yet. Empty in a topic that is idle and well. */
  readonly handOvers: readonly PendingHandOver[];
  /** Damage that was found, oldest first; empty in a healthy topic. */
  readonly damage: readonly QueueDamage[];
}

/** Copies on their way to a queue. */
export interface PendingHandOver {
  readonly target: string;
  readonly messages: number;
  /** When a queue that could not be reached is called again, in ms; `null` while it is being called. */
  readonly retryAtMs: number | null;
}

import {
  CONNECT_TIMEOUT_SECONDS_MAX,
  HTTP_CONCURRENCY_DEFAULT,
  type HttpPushConsumerDefinition,
  type HttpPushSettings,
  isEndpointQueue,
  type QueueDefinition,
  type SnsSettings,
  type TopicRecord,
  type TopicSubscription,
} from "@sluice/protocol";
import {
  contentTypeToSend,
  effectivePolicy,
  type SubscriptionDocument,
  type TopicDocument,
} from "@sluice/retry";
import { changed, deleteQueue } from "../queues.ts";
import { newRecord } from "../records.ts";
import type { Registry } from "../registry.ts";

/** Time that SNS waits for an endpoint, in seconds (spec sns-delivery 8.1). */
export const SNS_TIMEOUT_SECONDS = 15;
/** Default time from its publication that a message is delivered to an endpoint, in seconds (spec sns-delivery 7). */
export const SNS_LIFE_SECONDS_DEFAULT = 3_600;

/**
 * Creates or changes the queue of an HTTP subscription by the current topic and subscription. Targets of other
 * subscriptions are left alone.
 */
export function syncEndpointQueue(
  registry: Registry,
  topic: TopicRecord,
  subscription: TopicSubscription,
  settings: SnsSettings,
): void {
  const { target } = subscription;
  if (!isEndpointQueue(target)) return;
  const definition = endpointDefinition(topic, subscription, settings);
  const row = registry.queue(target);
  if (row === undefined) {
    registry.put({
      kind: "queue",
      record: newRecord(registry, target, definition),
      configured: null,
      told: 0,
    });
  } else if (JSON.stringify(row.record.definition) !== JSON.stringify(definition)) {
    changed(registry, row, { definition });
  }
}

/** Deletes the queue of an HTTP subscription with its messages. */
export function deleteEndpointQueue(registry: Registry, { target }: TopicSubscription): void {
  const queueId = isEndpointQueue(target) ? registry.queue(target)?.record.queueId : undefined;
  if (queueId !== undefined) deleteQueue(registry, queueId);
}

/** Makes the definition of a queue that leads to an endpoint, by the policy in effect (spec sns-delivery 2.7, 11.3). */
export function endpointDefinition(
  topic: TopicRecord,
  subscription: TopicSubscription,
  { clientErrors, messageLifeSeconds = SNS_LIFE_SECONDS_DEFAULT }: SnsSettings,
): QueueDefinition {
  const { healthy, maxReceivesPerSecond, headerContentType } = effectivePolicy(
    documentOf<SubscriptionDocument>(subscription.attributes.DeliveryPolicy),
    documentOf<TopicDocument>(topic.attributes.DeliveryPolicy),
  );
  const isRaw = subscription.attributes.RawMessageDelivery === "true";
  const { url, credentials } = endpointOf(subscription.endpoint);
  const consumer: HttpPushConsumerDefinition = {
    type: "http_push",
    settings: {
      url,
      format: "sns",
      contentType: contentTypeToSend(headerContentType, isRaw),
      ...(credentials === null ? {} : { credentials }),
      maxConcurrency: HTTP_CONCURRENCY_DEFAULT,
      connectTimeoutSeconds: Math.min(SNS_TIMEOUT_SECONDS, CONNECT_TIMEOUT_SECONDS_MAX),
      responseTimeoutSeconds: SNS_TIMEOUT_SECONDS,
      ...(clientErrors === undefined ? {} : { clientErrors }),
      readinessPath: null,
      maxRetries: healthy.numRetries,
      retryDelaySeconds: 0,
      retryPolicy: { kind: "sns", ...healthy, jitter: "equal" },
      deadLetterQueue: subscription.deadLetterQueue,
    },
  };
  return {
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: messageLifeSeconds,
    producers: [],
    consumer,
    ...(maxReceivesPerSecond === null ? {} : { maxReceivesPerSecond }),
  };
}

/** Separates credentials from a URL: only a server that asks for them gets them (spec sns-delivery 8.1). */
function endpointOf(
  endpoint: string,
): Pick<HttpPushSettings, "url"> & {
  readonly credentials: NonNullable<HttpPushSettings["credentials"]> | null;
} {
  const url = new URL(endpoint);
  if (url.username === "" && url.password === "") return { url: endpoint, credentials: null };
  const credentials = { username: decoded(url.username), password: decoded(url.password) };
  url.username = "";
  url.password = "";
  return { url: url.href, credentials };
}

/** Decodes a part of a URL, as it is if it has a lone percent sign. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Parses a stored policy, which was checked before it was stored. */
function documentOf<Document>(text: string | undefined): Document | null {
  return text === undefined ? null : (JSON.parse(text) as Document);
}

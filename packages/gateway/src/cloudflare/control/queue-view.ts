import type {
  ConsumerDefinition,
  HttpPushSettings,
  NotificationSettings,
  QueueRecord,
  R2Bucket,
} from "@sluice/protocol";

/**
 * Makes the API's view of a queue (spec cloudflare-queues 6.3).
 *
 * @param buckets R2 buckets with rules for queues, of which it may be one. Default: none.
 */
export function queueView(record: QueueRecord, buckets: readonly R2Bucket[] = []) {
  const { definition, jurisdiction } = record;
  const producers = [...producersOf(record), ...bucketsOf(record, buckets)];
  const consumers = consumerViews(record);
  return {
    queue_id: record.queueId,
    queue_name: record.name,
    created_on: new Date(record.createdOnMs).toISOString(),
    modified_on: new Date(record.modifiedOnMs).toISOString(),
    producers,
    producers_total_count: producers.length,
    consumers,
    consumers_total_count: consumers.length,
    settings: {
      delivery_delay: definition.deliveryDelaySeconds,
      delivery_paused: definition.deliveryPaused ?? false,
      message_retention_period: definition.messageRetentionSeconds,
    },
    ...(jurisdiction === null ? {} : { jurisdiction }),
  };
}

/** Makes the API's view of a queue's consumer, in a list of at most one. */
export function consumerViews({ name, definition, consumer }: QueueRecord) {
  if (definition.consumer === null || consumer === null) return [];
  return [
    {
      consumer_id: consumer.consumerId,
      created_on: new Date(consumer.createdOnMs).toISOString(),
      queue_name: name,
      dead_letter_queue: definition.consumer.settings.deadLetterQueue ?? "",
      ...typedView(definition.consumer),
    },
  ];
}

/**
 * Makes the part of a consumer's view that depends on its type. It has both `script`, which Wrangler reads, and
 * `script_name` of the SDK's type.
 */
function typedView(consumer: ConsumerDefinition) {
  if (consumer.type === "worker") {
    const { worker, settings } = consumer;
    return {
      type: consumer.type,
      script: worker,
      script_name: worker,
      settings: {
        batch_size: settings.maxBatchSize,
        max_retries: settings.maxRetries,
        max_wait_time_ms: Math.round(1000 * settings.maxBatchTimeoutSeconds),
        max_concurrency: settings.maxConcurrency,
        retry_delay: settings.retryDelaySeconds,
      },
    };
  }
  if (consumer.type === "http_push") return endpointView(consumer.settings);
  if (consumer.type === "notification") return notificationView(consumer.settings);
  const { settings } = consumer;
  return {
    type: consumer.type,
    settings: {
      batch_size: settings.maxBatchSize,
      max_retries: settings.maxRetries,
      visibility_timeout_ms: settings.visibilityTimeoutMs,
      retry_delay: settings.retryDelaySeconds,
    },
  };
}

/** Makes the view of an HTTP endpoint, which production lacks. Header values are left out: they may be secrets. */
function endpointView(settings: HttpPushSettings) {
  return {
    type: "http_push" as const,
    url: settings.url,
    settings: {
      batch_size: 1,
      max_retries: settings.maxRetries,
      max_concurrency: settings.maxConcurrency,
      retry_delay: settings.retryDelaySeconds,
    },
  };
}

/** Makes the view of a notification consumer, with the settings that are fixed. */
function notificationView({
  email,
  pagerduty,
  webhooks,
  maxRetries,
  retryDelaySeconds,
}: NotificationSettings) {
  const entries = (ids: readonly string[]) => ids.map((id) => ({ id }));
  return {
    type: "notification" as const,
    settings: {
      email: entries(email),
      pagerduty: entries(pagerduty),
      webhooks: entries(webhooks),
      batch_size: 1,
      max_retries: maxRetries,
      retry_delay: retryDelaySeconds,
    },
  };
}

/** Lists the producers. A Worker with several bindings to the queue is one producer. */
function producersOf({ definition }: QueueRecord) {
  const scripts = new Set(definition.producers.map(({ worker }) => worker));
  return [...scripts].map((script) => ({ type: "worker" as const, script }));
}

/** Lists the R2 buckets of whose writes the queue is notified. */
function bucketsOf({ queueId }: QueueRecord, buckets: readonly R2Bucket[]) {
  return buckets
    .filter(({ rules }) => rules.some((rule) => rule.queueId === queueId))
    .map(({ bucket }) => ({ type: "r2_bucket" as const, bucket_name: bucket }));
}

import type { QueueRules } from "@sluice/engine";
import {
  BATCH_SIZE_DEFAULT,
  BATCH_TIMEOUT_SECONDS_DEFAULT,
  FINISHED_MESSAGES_MAX,
  HANDLER_WALL_CLOCK_MS_MAX,
  type HttpPushFormat,
  type QueueDefinition,
  RETENTION_SECONDS_DEFAULT,
  RETRIES_DEFAULT,
} from "@sluice/protocol";
import { retriesOf } from "@sluice/retry";

/**
 * Time of a push lease beyond that of its handler, in ms. Meanwhile the consumer is asked for the handler's
 * acknowledgements; the end of the lease releases all of its messages.
 */
export const LEASE_GRACE_MS = 10_000;

/** Makes the engine's rules of a definition, with production's defaults where there is no consumer. */
export function rulesOf(definition: QueueDefinition | undefined): QueueRules {
  const consumer = definition?.consumer;
  const settings = consumer?.settings;
  const policy = settings?.retryPolicy;
  const isEndpoint = consumer?.type === "http_push";
  const isSingle = isEndpoint || consumer?.type === "notification";
  const push = consumer?.type === "worker" ? consumer.settings : undefined;
  const maxBatchSize = isSingle ? 1 : (push?.maxBatchSize ?? BATCH_SIZE_DEFAULT);
  const timeoutSeconds = isSingle ? 0 : (push?.maxBatchTimeoutSeconds ?? BATCH_TIMEOUT_SECONDS_DEFAULT);
  return {
    // A larger batch would exceed the messages that may be delivered in a second.
    maxBatchSize: Math.min(maxBatchSize, definition?.maxReceivesPerSecond ?? maxBatchSize),
    batchTimeoutMs: Math.round(1000 * timeoutSeconds),
    maxRetries:
      (definition && retriesBeforeDeath(definition)) ??
      (policy && retriesOf(policy)) ??
      settings?.maxRetries ??
      RETRIES_DEFAULT,
    maxConcurrency: isEndpoint ? consumer.settings.maxConcurrency : (push?.maxConcurrency ?? null),
    ...(isEndpoint ? { scalesConcurrency: false } : {}),
    retryDelayMs: 1000 * (settings?.retryDelaySeconds ?? 0),
    retentionMs:
      1000 * (definition?.messageRetentionSeconds ?? RETENTION_SECONDS_DEFAULT) +
      // A notification whose attempt is due at the very end of its retention is still delivered (spec sns-delivery
      // 11.2).
      (isForNotifications(definition) ? 1 : 0),
    pushLeaseMs: HANDLER_WALL_CLOCK_MS_MAX + LEASE_GRACE_MS,
    ...(definition?.fifo === undefined ? {} : { fifo: true }),
  };
}

/**
 * Returns the retries that a queue's settings demand, by one rule for both dialects: a message dies after
 * `maxRetries + 1` deliveries. Cloudflare's `max_retries` is that number, SQS's `maxReceiveCount` one more. With
 * neither a redrive policy nor a consumer, messages are received for ever (spec sqs 6.1).
 */
function retriesBeforeDeath({ receive, consumer }: QueueDefinition): number | null {
  if (receive?.redrive) return receive.redrive.maxReceiveCount - 1;
  // `MaxRetries` of a worker daemon has no effect without a queue to move to (spec sqsd 2).
  if (isForWorkerDaemon({ consumer }) && consumer?.settings.deadLetterQueue === null)
    return Number.POSITIVE_INFINITY;
  return consumer === null ? Number.POSITIVE_INFINITY : null;
}

/** Returns the dead-letter queue of a definition; `null` if dead messages are deleted. */
export function deadLetterQueueOf(definition: QueueDefinition | undefined): string | null {
  return (
    definition?.receive?.redrive?.deadLetterQueue ?? definition?.consumer?.settings.deadLetterQueue ?? null
  );
}

/** Whether a queue delivers to the endpoint of a subscription. */
export function isForNotifications(definition: QueueDefinition | undefined): boolean {
  return isPushedAs("sns", definition);
}

/** Whether a worker daemon receives from a queue. */
export function isForWorkerDaemon(definition: Pick<QueueDefinition, "consumer"> | undefined): boolean {
  return isPushedAs("sqsd", definition);
}

function isPushedAs(
  format: HttpPushFormat,
  definition: Pick<QueueDefinition, "consumer"> | undefined,
): boolean {
  return definition?.consumer?.type === "http_push" && definition.consumer.settings.format === format;
}

/**
 * Returns how long a queue keeps its history, in ms; `null` if it keeps none.
 *
 * @param byDefault whether a queue without the setting keeps one, for as long as there is room.
 */
export function historyMsOf(definition: QueueDefinition | undefined, byDefault: boolean): number | null {
  if (definition === undefined) return null;
  const { historySeconds } = definition;
  if (historySeconds === undefined) return byDefault ? Number.POSITIVE_INFINITY : null;
  return historySeconds === 0 ? null : 1_000 * historySeconds;
}

/**
 * Whether a queue asks its consumer for what handlers print.
 *
 * @param byDefault whether a queue without the setting does where it keeps a history.
 */
export function takesLogs(definition: QueueDefinition | undefined, byDefault: boolean): boolean {
  return definition?.logs ?? (byDefault && historyMsOf(definition, byDefault) !== null);
}

/**
 * Returns how many finished messages of a queue keep their bodies.
 *
 * @param byDefault whether a queue without the setting keeps those that its history is about.
 */
export function finishedMessagesOf(definition: QueueDefinition | undefined, byDefault: boolean): number {
  if (definition === undefined) return 0;
  const hasHistory = historyMsOf(definition, byDefault) !== null;
  return definition.finishedMessages ?? (byDefault && hasHistory ? FINISHED_MESSAGES_MAX : 0);
}

/** Returns the queue's own `delivery_delay` in seconds. */
export function deliveryDelaySecondsOf(definition: QueueDefinition | undefined): number {
  return definition?.deliveryDelaySeconds ?? 0;
}

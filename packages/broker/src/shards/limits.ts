import type { QueueDefinition } from "@sluice/protocol";

/** Limits of a queue for all of its shards together. */
export interface QueueLimits {
  /** Deliveries at a time; `null` for any number. */
  readonly deliveries: number | null;
  /** Messages per second; `null` for any number. */
  readonly messages: number | null;
}

/** The limits of a queue that hold for all of its shards together. */
export function limitsOf(definition: QueueDefinition | undefined): QueueLimits {
  const consumer = definition?.consumer;
  const isPushed = consumer?.type === "worker" || consumer?.type === "http_push";
  return {
    deliveries: isPushed ? consumer.settings.maxConcurrency : null,
    messages: definition?.maxReceivesPerSecond ?? null,
  };
}

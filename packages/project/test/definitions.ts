import type { ConsumerSettings, HttpPushSettings, QueueDefinition } from "@sluice/protocol";

/** A queue with nothing but its defaults. */
export const QUEUE: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: 345_600,
  producers: [],
  consumer: null,
};

/** Defaults of a Worker that consumes. */
export const CONSUMER_SETTINGS: ConsumerSettings = {
  maxBatchSize: 10,
  maxBatchTimeoutSeconds: 5,
  maxRetries: 3,
  maxConcurrency: null,
  retryDelaySeconds: 0,
  deadLetterQueue: null,
};

/** Settings of an endpoint on this machine, at which nothing listens. */
export const PUSH_SETTINGS: HttpPushSettings = {
  url: "http://127.0.0.1:9/collect",
  format: "sluice",
  contentType: null,
  maxConcurrency: 1,
  connectTimeoutSeconds: 5,
  responseTimeoutSeconds: 60,
  readinessPath: null,
  maxRetries: 3,
  retryDelaySeconds: 0,
  deadLetterQueue: null,
};

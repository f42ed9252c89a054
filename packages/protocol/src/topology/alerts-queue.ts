import { CONNECT_TIMEOUT_SECONDS_DEFAULT, RETENTION_SECONDS_DEFAULT } from "../limits.ts";
import { ALERTS_QUEUE, ALERTS_SECRET, ALERTS_URL, type AlertSettings } from "./alerts.ts";
import type { QueueDefinition, QueueTopology } from "./topology.ts";

/** Retries of an alert: with the delays of its policy they take two to four hours. */
const RETRIES = 30;
const RETRY_MAX_SECONDS = 600;
const RESPONSE_TIMEOUT_SECONDS = 15;
/** Most alerts that are posted at a time. Those of one kind and queue go in order. */
const CONCURRENCY = 10;

/** Finished reports that are kept: by them an alert that is on says whether its own was taken or given up. */
const FINISHED = 100;

/** Lists the queues of a topology with the one that alerts wait in. */
export function queuesOf({ queues, alerts }: QueueTopology): Readonly<Record<string, QueueDefinition>> {
  return alerts === undefined ? queues : { ...queues, [ALERTS_QUEUE]: alertsQueue(alerts) };
}

/** Makes the definition of the queue that alerts wait in: a FIFO queue, so that no end overtakes its beginning. */
function alertsQueue({ url, format }: AlertSettings): QueueDefinition {
  return {
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
    producers: [],
    consumer: {
      type: "http_push",
      settings: {
        url: url ?? `$${ALERTS_URL}`,
        format: "sluice",
        contentType: "application/json",
        ...(format === "webhook" ? { signingSecret: ALERTS_SECRET } : {}),
        maxConcurrency: CONCURRENCY,
        connectTimeoutSeconds: CONNECT_TIMEOUT_SECONDS_DEFAULT,
        responseTimeoutSeconds: RESPONSE_TIMEOUT_SECONDS,
        readinessPath: null,
        maxRetries: RETRIES,
        retryDelaySeconds: 0,
        retryPolicy: { kind: "exponential", base: 2, maxSeconds: RETRY_MAX_SECONDS, jitter: "equal" },
        deadLetterQueue: null,
      },
    },
    fifo: {},
    finishedMessages: FINISHED,
  };
}

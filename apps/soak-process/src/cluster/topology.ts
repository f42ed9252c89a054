import {
  type ConsumerSettings,
  type QueueDefinition,
  type QueueTopology,
  RETENTION_SECONDS_DEFAULT,
} from "@sluice/protocol";

/** Dead-letter queue of all others. */
export const DEAD_LETTER_QUEUE = "dead";

const DEFAULTS: ConsumerSettings = {
  maxBatchSize: 10,
  maxBatchTimeoutSeconds: 0,
  maxRetries: 4,
  maxConcurrency: null,
  retryDelaySeconds: 0,
  deadLetterQueue: DEAD_LETTER_QUEUE,
};

/** Queues with different settings, for different mistakes after a crash. */
const SETTINGS = {
  /** The broker's own number of deliveries at a time. */
  orders: {},
  /** One delivery at a time: the next one proves that the settlement of the one before was committed. */
  serial: { maxConcurrency: 1 },
  /** Batches that wait to be filled, and are still waiting when the process dies. */
  bulk: { maxBatchSize: 100, maxBatchTimeoutSeconds: 1, retryDelaySeconds: 1 },
  [DEAD_LETTER_QUEUE]: { maxConcurrency: 1, maxBatchSize: 100, maxRetries: 100, deadLetterQueue: null },
} satisfies Record<string, Partial<ConsumerSettings>>;

export type QueueName = keyof typeof SETTINGS;

/** Queues that producers send to. */
export const PRODUCED_QUEUES = ["orders", "serial", "bulk"] as const satisfies readonly QueueName[];

/** Every queue with its settings. */
export const TOPOLOGY: QueueTopology = {
  queues: Object.fromEntries(
    Object.entries(SETTINGS).map(([queue, settings]): [string, QueueDefinition] => [
      queue,
      {
        deliveryDelaySeconds: 0,
        messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
        producers: [],
        consumer: { type: "worker", worker: "consumer", settings: { ...DEFAULTS, ...settings } },
      },
    ]),
  ),
};

/** Finds the consumer settings of a queue. Throws if there is no queue of that name that a Worker consumes. */
export function settingsOf(queue: string): ConsumerSettings {
  const consumer = TOPOLOGY.queues[queue]?.consumer;
  if (consumer?.type !== "worker") throw new Error(`there is no queue "${queue}"`);
  return consumer.settings;
}

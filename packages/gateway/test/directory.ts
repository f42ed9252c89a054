import type { QueueDefinition, QueueDescription } from "@sluice/protocol";
import type { QueueDirectory } from "../src/index.ts";

export const ORDERS: QueueDefinition = {
  deliveryDelaySeconds: 5,
  messageRetentionSeconds: 86_400,
  producers: [{ worker: "shop", binding: "ORDERS" }],
  consumer: {
    type: "worker",
    worker: "mailer",
    settings: {
      maxBatchSize: 10,
      maxBatchTimeoutSeconds: 5,
      maxRetries: 3,
      maxConcurrency: null,
      retryDelaySeconds: 0,
      deadLetterQueue: "dead",
    },
  },
};

export const DEAD: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: 345_600,
  producers: [],
  consumer: null,
};

/** A directory of queues with messages in each state, and a list of what its clock was told. */
export function directoryOf(
  queues: Record<string, QueueDefinition> = { orders: ORDERS, dead: DEAD },
  changes: Partial<QueueDescription> = {},
): QueueDirectory & { readonly advances: number[] } {
  const advances: number[] = [];
  return {
    queues,
    advances,
    describe: async (queue) => ({
      queue,
      ready: 1,
      delayed: 2,
      leased: 3,
      backlogBytes: 4,
      oldestMessageTimestampMs: 1_700_000_000_000,
      rowsWritten: 5,
      rowsRead: 6,
      damage: [],
      ...changes,
    }),
    advanceClock: async (ms) => {
      advances.push(ms);
    },
  };
}

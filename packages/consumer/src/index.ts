export { QueueController, QueueMessage } from "./message-batch.ts";
export { createQueueConsumer, type QueueConsumerClass } from "./queue-consumer.ts";
export type { RunOptions } from "./run-delivery.ts";

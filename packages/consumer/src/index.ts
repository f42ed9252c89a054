export { watchConsole } from "./logs/watch-console.ts";
export { createQueueConsumer, type QueueConsumerClass } from "./queue-consumer.ts";
export { QueueController } from "./queue-controller.ts";
export { QueueMessage } from "./queue-message.ts";
export type { RunOptions } from "./run-delivery.ts";

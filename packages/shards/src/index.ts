export type { QueueRpc } from "./calls/queue-rpc.ts";
export { ShardedQueues } from "./calls/sharded-queues.ts";
export { PRODUCER_RULES, QUEUE_RULES } from "./rules.ts";

export type { QueueRpc } from "./calls/queue-rpc.ts";
export { ShardedQueues } from "./calls/sharded-queues.ts";
export { describeShards } from "./look/describe-shards.ts";
export type { ShardDescription } from "./merge/description.ts";
export { PRODUCER_RULES, QUEUE_RULES } from "./rules.ts";

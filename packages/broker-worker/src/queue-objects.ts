import type { BrokerEnv, QueueBrokerObject } from "@sluice/broker";
import { type QueueNamespace, QueueObjects } from "@sluice/protocol";
import { QUEUE_RULES, type QueueRpc, ShardedQueues } from "@sluice/shards";
import { accountOf } from "./account.ts";

/** Makes the finder of queues' and topics' objects, each in its jurisdiction. */
export function queueObjectsOf(env: BrokerEnv): QueueObjects<QueueBrokerObject> {
  return new QueueObjects({
    namespace: () => env.SLUICE_QUEUES as unknown as QueueNamespace<QueueBrokerObject>,
    placeOf: (queue) => accountOf(env).placeOf(queue),
    mapOf: async (queue) => (await accountOf(env).findByName(queue))?.shards ?? null,
  });
}

/** Makes the finder of queues, whether one object keeps them or several shards. */
export function shardedQueuesOf(objects: QueueObjects<QueueBrokerObject>): ShardedQueues<keyof QueueRpc> {
  return new ShardedQueues(objects, QUEUE_RULES);
}

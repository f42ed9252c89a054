import { QueueObjects, readShardAddress, type ShardMap, ShardMapError, shardOf } from "@sluice/protocol";
import { QUEUE_RULES, type QueueRpc, ShardedQueues } from "../src/index.ts";

/** Answers of the shards' methods, behind the queue's name. */
export type Stub = {
  readonly [Of in keyof QueueRpc]?: (...rest: never[]) => unknown;
};

/** Makes a queue "orders" with a shard for each stub. */
export function queueOf(...stubs: readonly Stub[]): QueueRpc {
  return new ShardedQueues(objectsOf(...stubs), QUEUE_RULES, { now: () => 1_000 }).of("orders");
}

/** Makes the objects of that queue. */
export function objectsOf(...stubs: readonly Stub[]): QueueObjects<QueueRpc> {
  const map: ShardMap = { epoch: 1, open: stubs.length, kept: stubs.length };
  return new QueueObjects<QueueRpc>({
    namespace: () => ({
      getByName: (name) =>
        new Proxy({} as QueueRpc, {
          get:
            (_, method: keyof QueueRpc) =>
            async (address: string, ...rest: never[]) => {
              if (readShardAddress(address).epoch === null) throw new ShardMapError("orders", map);
              const answer = stubs[shardOf(name).shard]?.[method];
              if (answer === undefined) throw new Error(`${name} has no ${method}`);
              return answer(...rest);
            },
        }),
    }),
    placeOf: async () => null,
  });
}

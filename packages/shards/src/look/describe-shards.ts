import type { QueueObjects, ShardMap } from "@sluice/protocol";
import { describeEach } from "../calls/all-rules.ts";
import { KnownQueues } from "../calls/known-queues.ts";
import type { QueueRpc } from "../calls/queue-rpc.ts";
import { Shards } from "../calls/shards.ts";
import type { ShardDescription } from "../merge/description.ts";

/**
 * Describes each shard of a queue apart, as of one map; the one object of a queue without shards. It asks shard 0 for
 * the map first, so it costs one call more than there are shards.
 */
export function describeShards(
  objects: QueueObjects<QueueRpc>,
  queue: string,
): Promise<{ readonly map: ShardMap; readonly shards: readonly ShardDescription[] }> {
  const ports = { objects, known: new KnownQueues(Math.random), waits: new Map(), now: Date.now };
  const call = new Shards(queue, ports);
  return call.byLaterMaps(async () => {
    const shards = await describeEach(call);
    return { map: call.map, shards };
  });
}

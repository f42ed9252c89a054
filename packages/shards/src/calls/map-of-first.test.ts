import { QueueObjects, readShardAddress, type ShardMap, ShardMapError } from "@sluice/protocol";
import { expect, it } from "vitest";
import { QUEUE_RULES, type QueueRpc, ShardedQueues } from "../index.ts";

it("a map that a shard knows before the first one does is not gone by", async () => {
  const before: ShardMap = { epoch: 1, open: 2, kept: 2 };
  const later: ShardMap = { epoch: 9, open: 8, kept: 8 };
  let known: ShardMap = before;
  const purged: string[] = [];
  const purge = (name: string) => async (address: string) => {
    const { object, epoch } = readShardAddress(address);
    // The second shard was made anew, with the map of a queue that the first one has not heard of.
    const own = object === "orders" ? known : later;
    if (epoch === null || epoch < own.epoch) throw new ShardMapError("orders", own);
    purged.push(name);
    return { purged: 1 };
  };
  const metrics = async () => {
    throw new ShardMapError("orders", known);
  };
  const objects = new QueueObjects<QueueRpc>({
    namespace: () => ({ getByName: (name) => ({ purge: purge(name), metrics }) as unknown as QueueRpc }),
    placeOf: async () => null,
  });
  const queue = new ShardedQueues(objects, QUEUE_RULES).of("orders");
  await expect(queue.purge("orders")).rejects.toThrow(ShardMapError);
  expect(purged.filter((name) => name !== "orders")).toEqual([]);
  known = later;
  purged.length = 0;
  await queue.purge("orders");
  expect(purged).toHaveLength(8);
});

import { QueueObjects, readShardAddress, type ShardMap, ShardMapError } from "@sluice/protocol";
import { expect, it } from "vitest";
import { QUEUE_RULES, type QueueRpc, ShardedQueues } from "../index.ts";
import { KnownQueues } from "./known-queues.ts";
import { MapChangedError, Shards } from "./shards.ts";

it("a shard of a queue that the first one has not heard of sends its callers there", async () => {
  const before: ShardMap = { epoch: 1, open: 2, kept: 2 };
  const later: ShardMap = { epoch: 9, open: 8, kept: 8 };
  let known: ShardMap = before;
  const purged: string[] = [];
  const purge = (name: string) => async (address: string) => {
    const { object, epoch } = readShardAddress(address);
    // The second shard was made anew as of 5, with the map of a queue that the first one has not heard of.
    const own = object === "orders" ? known : later;
    if (object !== "orders" && epoch !== null && epoch < 5)
      throw new ShardMapError("orders", { epoch: 5, open: 1, kept: 1 });
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
  await expect(queue.purge("orders")).rejects.toThrow("change too fast");
  expect(purged.filter((name) => name !== "orders")).toEqual([]);
  known = later;
  purged.length = 0;
  await queue.purge("orders");
  expect(purged).toHaveLength(8);
});

it("a map that a shard tells a call without one is not gone by", async () => {
  const map: ShardMap = { epoch: 9, open: 8, kept: 8 };
  const cancelReceive = () => Promise.reject(new ShardMapError("orders", map));
  const objects = new QueueObjects<QueueRpc>({
    namespace: () => ({ getByName: () => ({ cancelReceive }) as unknown as QueueRpc }),
    placeOf: async () => null,
  });
  const known = new KnownQueues(() => 0);
  const shards = new Shards("orders", { objects, known, waits: new Map(), now: () => 0 });
  await expect(shards.call(1, "cancelReceive", "receiver")).rejects.toThrow(ShardMapError);
  expect(known.get("orders")).toBeUndefined();
  await expect(shards.call(0, "cancelReceive", "receiver")).rejects.toThrow(MapChangedError);
  expect(known.get("orders")?.map).toEqual(map);
});

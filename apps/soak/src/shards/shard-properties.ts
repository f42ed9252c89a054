/** Properties of queues with shards. */
export const SHARD_PROPERTIES = [
  "acknowledged survives in shards",
  "one shard has it",
  "one shard has a group",
  "group order over shards",
  "concurrency over shards",
  "throttle over shards",
  "paused in all shards",
  "purge of all shards",
  "stale map",
  "no shard starves",
  "counts of all shards",
  "a shard is away",
  "old producers",
  "empty in all shards",
  "drained shards",
  "deleted with its queue",
  "deduplication over maps",
  "due time in shards",
  "tokens of shards",
  "liveness of shards",
] as const;
export type ShardProperty = (typeof SHARD_PROPERTIES)[number];

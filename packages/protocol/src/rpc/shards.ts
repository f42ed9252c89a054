/*
 * Calls on the shards of a queue that only shards and the directory make (docs/design/shards.md). Plain data only.
 */

/**
 * Code of the failure of an enqueue on a shard: a message is of a group that belongs to another shard, and this one holds
 * none of it any more. Nothing was stored. The caller sends it to the owner, and no client ever sees it.
 */
export const GROUP_MOVED = 1;

/** Request of a shard to shard 0 for its part of the limits. */
export interface PartRequest {
  readonly shard: number;
  /** Deliveries that are running. */
  readonly running: number;
  /** Deliveries that the shard could have running, those included; 0 gives the part back. */
  readonly wanted: number;
}

/** Part of the queue's limits that a shard may use until it expires. */
export interface Part {
  /** Deliveries at a time. `null` where the queue has no limit. */
  readonly deliveries: number | null;
  /** Messages delivered per second, a fraction too; `null` where the queue has no limit. */
  readonly perSecond: number | null;
  /** In ms since the request was made. */
  readonly expiresInMs: number;
}

/** How far a shard is with the current map. */
export interface ShardState {
  /** Epoch of the map that the shard goes by; `null` for none. */
  readonly epoch: number | null;
  /** Whether it holds nothing: no message, nothing on its way to another queue, no delivery. */
  readonly isEmpty: boolean;
  /**
   * Whether it may still have to take in or recognise messages of groups that the map gives to another shard. False on a
   * standard queue.
   */
  readonly keepsGroups: boolean;
}

/** Methods of a queue's object for its shards and the directory. */
export interface QueueShardRpc {
  /** Lends a shard its part of the queue's limits. Shard 0 alone answers it. */
  lendPart(queue: string, request: PartRequest): Promise<Part>;
  shardState(queue: string): Promise<ShardState>;
}

/*
 * Calls on the shards of a queue that only shards and the directory make (docs/design/shards.md). Plain data only.
 */

import type { QueueUsage } from "./usage.ts";

/**
 * Code of the failure of an enqueue on a shard: a message is of a group that belongs to another shard, and this one
 * holds none of it any more. Nothing was stored. The caller sends it to the owner, and no client ever sees it.
 */
export const GROUP_MOVED = 1;

/** A shard's need of one limit. Units are deliveries at a time, or messages per second. */
export interface PartNeed {
  /** Units that it may use now. */
  readonly part: number;
  /** Units in use. */
  readonly used: number;
  /** Units that it could use, those in use included. */
  readonly wanted: number;
}

/** Question of a shard to shard 0. */
export interface PartRequest {
  readonly shard: number;
  /** Grows with every request of the shard, over its restarts: one that arrives late says nothing. */
  readonly number: number;
  readonly deliveries: PartNeed;
  readonly messages: PartNeed;
  /** Epoch of the map that the shard goes by. Absent from a shard of an earlier release. */
  readonly epoch?: number;
  /** The latest lender that the shard has heard of, 0 for none. Absent from a shard of an earlier release. */
  readonly lender?: number;
}

/** Units of one limit that a shard may use until they expire. */
export interface LentPart {
  readonly units: number;
  /** In ms since the request was made. */
  readonly expiresInMs: number;
}

/** Part of the queue's limits that a shard may use. `null` where the queue has no such limit. */
export interface Part {
  /** When shard 0 began that lends it, in ms since 1970. */
  readonly lender: number;
  readonly deliveries: LentPart | null;
  readonly messages: LentPart | null;
}

/** How far a shard is with the current map. */
export interface ShardState {
  /** Epoch of the map that the shard goes by; `null` for none. */
  readonly epoch: number | null;
  /** Whether it holds nothing: no message, nothing on its way to another queue, no delivery. */
  readonly isEmpty: boolean;
  /**
   * Whether it may still have to take in or recognise messages of groups that the map gives to another shard. False on
   * a standard queue.
   */
  readonly keepsGroups: boolean;
  /** Whether messages are on their way from it to shards that are draining. Absent for none. */
  readonly passesOn?: boolean;
  /** Usage of the object this month. Absent from an object of an earlier release. */
  readonly usage?: QueueUsage;
}

/** Methods of a queue's object that its shards call. */
export interface QueuePartsRpc {
  /** Lends a shard its part of the queue's limits. Shard 0 alone answers it. */
  lendPart(queue: string, request: PartRequest): Promise<Part>;
  /** Asks a shard what it uses, after a start of shard 0: from then on it takes no part of an earlier lender. */
  partOf(queue: string, lender: number): Promise<PartRequest>;
}

/** Methods of a shard that the directory calls. */
export interface QueueShardRpc {
  shardState(queue: string): Promise<ShardState>;
}

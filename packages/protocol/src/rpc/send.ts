import { readShardMap, type ShardMap } from "../shards/shard-map.ts";

/**
 * The RPC interfaces between the three kinds of Workers. Plain data only: RPC refuses class instances, so dates travel
 * as milliseconds and errors as codes.
 */

/**
 * Backlog figures: every message that waits (ready or delayed), without the leased ones (spec cloudflare-queues 10).
 */
export interface BacklogMetrics {
  readonly backlogCount: number;
  readonly backlogBytes: number;
  /** Send time of the oldest waiting message in ms since 1970; 0 when nothing waits. */
  readonly oldestMessageTimestampMs: number;
}

/**
 * Messages to store that share a default delay. Concurrent sends share a call and, where their delay is the same, a
 * request: the limits of a single batch are checked before, at the edge.
 */
export interface SendRequest {
  readonly packed: Uint8Array;
  /** Delay of the messages that name none, in seconds; absent means the queue's `delivery_delay`. */
  readonly delaySeconds?: number;
  /** Has the next request go to the next shard of a standard queue: the large calls of an import would fill one. */
  readonly inTurn?: true;
}

/** An error of a dialect, as data. */
export interface RpcFailure {
  readonly ok: false;
  readonly code: number;
  readonly cause: string;
}

export type SendReply =
  | {
      readonly ok: true;
      readonly metrics: BacklogMetrics;
      /** Map of the queue's shards, for a caller that named none. Absent where it has none. */
      readonly shards?: ShardMap;
    }
  | RpcFailure;

/**
 * Answer to a producer's send: the backlog figures as a text (`metricsText`), or why nothing was stored. Behind the
 * figures is the map of the queue's shards (`shardMapText`) for a producer that named none.
 */
export type PostReply = string | RpcFailure;

/** Methods of a queue's Durable Object that producers call. */
export interface QueuePostRpc {
  /**
   * `send`, answered with a text. An object in an answer makes a single send take 15 µs longer, a twentieth of its
   * time: after the sync of the commit, the code that reads objects is no longer in the processor's caches.
   *
   * @param producer name of the Worker that sends, for people.
   * @param protocol the producer's `PROTOCOL_VERSION`. Default: that of a build which names none.
   */
  post(
    queue: string,
    requests: readonly SendRequest[],
    producer?: string,
    protocol?: number,
  ): Promise<PostReply>;
}

/** Backlog figures as one text: three numbers and blanks. */
export function metricsText({
  backlogCount,
  backlogBytes,
  oldestMessageTimestampMs,
}: BacklogMetrics): string {
  return `${backlogCount} ${backlogBytes} ${oldestMessageTimestampMs}`;
}

/** Reads the backlog figures back from the text of `metricsText`. */
export function readMetricsText(text: string): BacklogMetrics {
  const [count, bytes, oldestMs] = text.split(" ");
  return {
    backlogCount: Number(count),
    backlogBytes: Number(bytes),
    oldestMessageTimestampMs: Number(oldestMs),
  };
}

/** Reads the map behind the figures in the answer to a producer; `null` for a queue without shards. */
export function mapInMetricsText(text: string): ShardMap | null {
  return readShardMap(text.split(" ").slice(3).join(" "));
}

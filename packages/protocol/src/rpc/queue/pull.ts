import type { BacklogMetrics } from "../send.ts";

/*
 * Calls of the gateway on a queue's Durable Object for clients that pull (spec cloudflare-queues 5). Plain data only.
 * The edge checks ranges in the dialect's words; a value out of range here throws RangeError.
 */

export interface PullRequest {
  /** Most messages, 1 to `PULL_MESSAGES_MAX`; absent means the consumer's `batch_size`. */
  readonly max?: number;
  /** How long the messages are leased, 0 to `VISIBILITY_TIMEOUT_MS_MAX`; absent means the consumer's. */
  readonly visibilityTimeoutMs?: number;
}

/** Messages that a client has leased. The lists have an entry for each record of `packed`, in its order. */
export interface PulledBatch {
  readonly packed: Uint8Array;
  /** 1 for a first delivery. */
  readonly attempts: readonly number[];
  /** Names this delivery of the message: opaque, of letters, digits, "-" and "_". */
  readonly leaseIds: readonly string[];
  /** Backlog of messages other than these. */
  readonly metrics: BacklogMetrics;
}

/**
 * - `notPullConsumer`: the queue's consumer is not `http_pull`, or it has none.
 * - `deliveryPaused`: delivery waits until it is resumed.
 */
export type PullRefusal = "notPullConsumer" | "deliveryPaused";

export type PullReply =
  | { readonly ok: true; readonly batch: PulledBatch }
  | { readonly ok: false; readonly reason: PullRefusal };

/** A message that its client wants delivered again. */
export interface PullRetry {
  readonly leaseId: string;
  /** 0 to `DELAY_SECONDS_MAX`; absent means the consumer's `retry_delay`, or the queue's retry policy. */
  readonly delaySeconds?: number;
}

export interface PullSettlement {
  readonly acks: readonly string[];
  readonly retries: readonly PullRetry[];
}

/** Result of a settlement. A message that could not be settled has a warning, and the others are settled. */
export interface PullSettled {
  readonly ackCount: number;
  readonly retryCount: number;
  /** By lease id, in the order of the request. */
  readonly warnings: readonly (readonly [leaseId: string, text: string])[];
}

/** Messages in the queue, without a lease. The lists have an entry for each record of `packed`, in its order. */
export interface PeekedBatch {
  readonly packed: Uint8Array;
  /** Deliveries so far, 0 for a message that had none. */
  readonly attempts: readonly number[];
  /** Names the message for `deleteByRefs`, as long as it is in the queue. Opaque, of letters, digits, "-" and "_". */
  readonly refs: readonly string[];
}

export interface RefsDeleted {
  readonly deleted: number;
  /** By ref, in the order of the request. */
  readonly warnings: readonly (readonly [ref: string, text: string])[];
}

/** Methods of a queue's object for clients that pull. */
export interface QueuePullRpc {
  /**
   * Leases what is ready and answers at once, with no messages when nothing is. Past `max_retries` a lease that ends
   * without a settlement moves its message to the dead-letter queue.
   */
  pull(queue: string, request: PullRequest): Promise<PullReply>;
  /**
   * Acknowledges messages and releases others. An acknowledgement counts after its lease has ended too, even if the
   * message is leased again; a retry counts only while the lease lasts (spec cloudflare-queues 5.5).
   */
  settleLeases(queue: string, settlement: PullSettlement): Promise<PullSettled>;
  /**
   * The first messages that wait, delayed ones too, by the time at which they are due. Nothing is leased or counted.
   */
  peek(queue: string, max: number): Promise<PeekedBatch>;
  /** Deletes messages by their refs, whatever has become of them since. */
  deleteByRefs(queue: string, refs: readonly string[]): Promise<RefsDeleted>;
}

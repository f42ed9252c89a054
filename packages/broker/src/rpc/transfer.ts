/** Messages of one commit for another queue. `id` grows with every item from the same source. */
export interface TransferItem {
  readonly id: number;
  readonly packed: Uint8Array;
}

/** Call with items for another queue: the first, and those after it. */
export interface Transfer extends TransferItem {
  readonly source: string;
  /**
   * Further items, in order of their ids. Absent from a caller of an earlier build, which knows no `TransferReply` and
   * takes every answer as a success: both builds run while a deployment goes on.
   */
  readonly more?: readonly TransferItem[];
  /** Epoch of the map by which a shard passes messages on to another one of its queue. Absent from other callers. */
  readonly epoch?: number;
}

/** Reply to a transfer. */
export interface TransferReply {
  /** Id up to which every item is durable. */
  readonly takenTo: number;
  /** Reason for which the next item, and all behind it, were not taken; `null` when all were. */
  readonly refused: string | null;
}

/**
 * Destination of messages of a topic whose queue does not exist when they arrive. That is a fault of the subscription,
 * so nothing is tried again (spec sns-delivery 6.1).
 *
 * - `deadLetter`: the dead-letter queue of the subscription, which is created if it does not exist either.
 * - `dropped`: none, because the subscription has no dead-letter queue, or has ended.
 */
export type Undeliverable =
  | { readonly kind: "deadLetter"; readonly queue: string }
  | { readonly kind: "dropped"; readonly reason: string };

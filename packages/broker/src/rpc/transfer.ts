/** Messages that one commit of a queue has for another one. `id` grows with every item from the same source. */
export interface TransferItem {
  readonly id: number;
  readonly packed: Uint8Array;
}

/** Items that one call hands from one queue to another: the first, and those that follow it. */
export interface Transfer extends TransferItem {
  readonly source: string;
  /**
   * In order of their ids. Absent: the caller reads no answer, and takes every one for a yes. While a deployment goes
   * on, an object of an earlier build may be on either side: that one knows neither this member nor `TransferReply`.
   */
  readonly more?: readonly TransferItem[];
}

/** Reply to a transfer. */
export interface TransferReply {
  /** Every item up to this id is durable. */
  readonly takenTo: number;
  /** Why the item after it was not taken, nor any behind that; `null` when all were. */
  readonly refused: string | null;
}

/**
 * Handling of messages of a topic whose queue does not exist when they arrive (spec sns-delivery 6.1: a fault of the
 * subscription, so nothing is tried again).
 *
 * - `deadLetter`: they go to the dead-letter queue of the subscription, which they create if it does not exist either.
 * - `dropped`: it has none, or the subscription itself has ended.
 */
export type Undeliverable =
  | { readonly kind: "deadLetter"; readonly queue: string }
  | { readonly kind: "dropped"; readonly reason: string };

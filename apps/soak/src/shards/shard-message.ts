import type { View } from "../ledger/view.ts";

/** A message by its tag: which object has it, and its state there by the durable rows. */
export interface ShardMessage {
  readonly tag: number;
  object: string;
  queue: string;
  /** Revision at which the queue before its own one was deleted (`Deletions`). */
  readonly asOf: number;
  group: string;
  deduplicationId: string | null;
  state: "live" | "transit" | "gone";
  segmentId: number;
  view: View;
  /** Position in the order in which all messages were taken in. */
  position: number;
  /** Event in which it was committed. */
  committedEvent: number;
  /** Event in which that commit became durable. */
  acceptedEvent: number;
  acceptedMs: number;
  /** Time since which it is ready, or of its lease, in ms. */
  sinceMs: number;
  changedEvent: number;
  /** Outbox items that it is in, by object and id. */
  readonly items: Set<string>;
  everAccepted: boolean;
}

/** A send that has arrived at an object. */
export interface Arrival {
  /** The message as its producer means it: each arrival of it gets a tag of its own. */
  readonly logical: number;
  readonly event: number;
  /** Epoch of the map that it went by; `null` for none. */
  readonly epoch: number | null;
}

/** A purge from its call to its answer. */
export interface PurgeCall {
  readonly queue: string;
  readonly event: number;
  readonly objects: Set<string>;
  endEvent: number | null;
}

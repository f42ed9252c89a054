import type { View } from "../ledger/view.ts";

/** A message by its tag: which object has it, and where it stands there by what is durable. */
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
  /** Event in which it was committed, and in which that became durable. */
  committedEvent: number;
  acceptedEvent: number;
  acceptedMs: number;
  /** Since when it waits as it does, in ms; of one that is leased, when that was. */
  sinceMs: number;
  changedEvent: number;
  /** Outbox items that it is in, by object and id. */
  readonly items: Set<string>;
  everAccepted: boolean;
}

/** A send that has arrived at an object. */
export interface Arrival {
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

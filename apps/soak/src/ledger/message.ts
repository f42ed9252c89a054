import type { QueueDefinition } from "@sluice/protocol";
import type { View } from "./view.ts";

/** How a message left its queue: `moved` by a move task, `deleted` with its queue; `lost` must never happen. */
export type Departure = "acked" | "dead" | "moved" | "expired" | "deleted" | "lost";

/** Request that the holder of a message's receipt made: the next commit of that epoch has to carry it out. */
export interface ReceiptUse {
  readonly leaseId: number;
  readonly epoch: number;
  /** Last version written when it arrived. */
  readonly version: number;
  readonly what:
    | { readonly kind: "delete" }
    /** Another visibility timeout from the commit on, if that is before `ifBeforeMs` and ends by `notAfterMs`. */
    | {
        readonly kind: "changeVisibility";
        readonly forMs: number;
        readonly ifBeforeMs: number;
        readonly notAfterMs: number;
      }
    /** The receive reached no client: it does not count. */
    | { readonly kind: "release" };
}

/** Lists the requests by a message's receipts that a commit has to carry out. */
export function usesFor(
  { receiptUses }: Message,
  { epoch, version }: { readonly epoch: number; readonly version: number },
): readonly ReceiptUse[] {
  return receiptUses.filter((use) => use.epoch === epoch && use.version < version);
}

/**
 * One message of one queue, as it is stored. Its tag is in its body: copies of a send that came twice have the same
 * message id and different tags, so no two messages are ever taken for each other.
 */
export interface Message {
  readonly tag: number;
  readonly queue: number;
  readonly segmentId: number;
  readonly index: number;
  readonly seq: number;
  /** Its group on a FIFO queue; `null` on another one. */
  readonly group: string | null;
  /** Due time at its acceptance, in ms. */
  readonly firstDueMs: number;
  readonly acceptedMs: number;
  /** When it was sent, in ms: before its acceptance if it comes from another queue. */
  readonly sentMs: number;
  /** Receives in queues before this one. */
  readonly earlierReceives: number;
  /** Whether it names a queue that it comes from. */
  readonly namesSource: boolean;
  readonly bytes: number;
  /** Times that this queue has accepted the tag, this one included: more than one is a violation. */
  readonly copies: number;
  /** Revision of the queue's record that it was accepted under; 0 without a directory. */
  readonly bornUnder: number;
  view: View;
  /** Attempts so far, or until it left. */
  attempts: number;
  /** When it was received first, in ms; 0 if it never was. */
  firstReceivedMs: number;
  /** Requests by its receipts that have reached the queue and have not been carried out. */
  readonly receiptUses: ReceiptUse[];
  /** Receive counts in answers to receives that left it visible: each has to be different. */
  readonly countsTold: Set<number>;
  /** The receive that got it last, on a FIFO queue; `null` before the first. */
  namedReceive: NamedReceive | null;
  /** Due time at its last lease, in ms. */
  leasedFromMs: number;
  /** Whether a move task may have put it back in the turn of its last lease: then its place is unknown. */
  isPlaceUnclear: boolean;
  /** When it was leased last, or received once more by an attempt id, in ms. */
  leasedAtMs: number;
  /** Epoch of the queue in which it was leased last. */
  leasedInEpoch: number;
  departure: Departure | null;
  /** Definition of its queue when it left; `null` before. */
  leftUnder: QueueDefinition | null;
}

/** Receive of a FIFO queue that can be made again by its attempt id. */
export interface NamedReceive {
  readonly leaseId: number;
  readonly messages: readonly Message[];
  /** When it was made first, in ms. */
  readonly firstMs: number;
  /** Attempt ids that it can have had: several until it is answered, if several receives were under way. */
  names: ReadonlySet<string | null>;
  /** End of the visibility timeout that it was given last, in ms. */
  endMs: number;
  /** `null` while the receive is not answered. */
  receipts: readonly string[] | null;
}

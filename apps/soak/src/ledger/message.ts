import type { View } from "./view.ts";

/** How a message left its queue. `lost` is what must never be. */
export type Departure = "acked" | "dead" | "expired" | "lost";

/**
 * One message of one queue, as the store knows it. Its tag is in its body: copies of a send that came twice have the same
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
  readonly bytes: number;
  /** How many times this queue has accepted the tag, this one included: never more than once. */
  readonly copies: number;
  view: View;
  /** When it was due as it was leased last, in ms. */
  leasedFromMs: number;
  /** Life of the queue in which it was leased last. */
  leasedInLife: number;
  departure: Departure | null;
}

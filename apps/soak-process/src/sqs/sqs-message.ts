import type { Sent } from "@sluice/harness/ledger";

/** The latest receive of a message. */
export interface Receive {
  readonly queue: string;
  readonly handle: string;
  /** Its `ApproximateReceiveCount`. */
  readonly count: number;
  /** Time of the call, in ms: the message is hidden from then on at the earliest. */
  readonly askedAtMs: number;
  /** Earliest time at which it may be received again, in ms; -Infinity if that is unknown. */
  hiddenUntilMs: number;
  /** Time since which that holds, in ms: a receive that was called before may have come first. */
  knownSinceMs: number;
}

/** Deletion of a message. `unknown`: the call was made, and was not answered or came too late. */
type Deletion = "none" | "unknown" | "done";

/** Message with its latest receive and its deletion. */
export interface SqsMessage extends Sent {
  /** Message group on a FIFO queue; `null` on any other. */
  readonly group: string | null;
  delayMs: number;
  /** Time before the call, in ms: the message is due no earlier than this and its delay. */
  readonly sentAtMs: number;
  /** Id that SQS gives the message, once it was received; `null` before. */
  messageId: string | null;
  received: Receive | null;
  deletion: Deletion;
  /** Changes of its visibility timeout, by any receipt, without a successful answer. */
  changesUnderWay: number;
  /** Time of the last such answer, in ms; -Infinity before the first. */
  changedAtMs: number;
}

import type { Sent } from "@sluice/harness/ledger";

/** The latest receive of a message. */
export interface Receive {
  readonly queue: string;
  readonly handle: string;
  /** How often it was received, as SQS says. */
  readonly count: number;
  /** When the call was made: the message is hidden from then on at the earliest. */
  readonly askedAtMs: number;
  /** When it may be received again at the earliest, as far as is known. */
  hiddenUntilMs: number;
  /** Since when that is known: a receive that was asked for before may have come first. */
  knownSinceMs: number;
}

/** Deletion of a message, as far as it is known. `unknown`: it was asked for, and was not answered or came too late. */
type Deletion = "none" | "unknown" | "done";

/** Everything that is known about one message. */
export interface SqsMessage extends Sent {
  /** Message group on a FIFO queue; `null` on any other. */
  readonly group: string | null;
  delayMs: number;
  /** Before the call, so nothing can be due earlier than this and the delay. */
  readonly sentAtMs: number;
  /** Id that SQS gives the message, once it was received; `null` before. */
  messageId: string | null;
  received: Receive | null;
  deletion: Deletion;
  /** Changes of its visibility timeout, by any receipt, that were not answered, and when the last answer came. */
  changesUnderWay: number;
  changedAtMs: number;
}

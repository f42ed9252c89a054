import type { Sent } from "@sluice/harness/ledger";

/** The latest receive of a message. */
export interface Receive {
  readonly queue: string;
  readonly handle: string;
  /** How often it was received, as SQS says. */
  readonly count: number;
  /** When the call was made: the message is hidden from then on at the earliest. */
  readonly askedAtMs: number;
  /** When it may be received again at the earliest, as far as anybody knows. */
  hiddenUntilMs: number;
  /** Since when that is known: a receive that was asked for before may have come first. */
  knownSinceMs: number;
}

/** What is known of the deletion of a message. `unknown`: it was asked for, and nobody answered or it came too late. */
export type Deletion = "none" | "unknown" | "done";

/** Everything that is known about one message. */
export interface SqsMessage extends Sent {
  /** Of a FIFO queue; `null` on any other. */
  readonly group: string | null;
  readonly delayMs: number;
  /** Before the call, so nothing can be due earlier than this and the delay. */
  readonly sentAtMs: number;
  /** What SQS calls it, once it was received. */
  messageId: string | null;
  received: Receive | null;
  deletion: Deletion;
  /** Changes of its visibility timeout, by whatever receipt, that were not answered, and when the last one was. */
  changesUnderWay: number;
  changedAtMs: number;
}

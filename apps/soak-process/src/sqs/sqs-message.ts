/** What the producer was told about a message: nothing if nobody knows what became of it. */
export type SendOutcome = "unknown" | "acknowledged";

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
}

/** What is known of the deletion of a message. `unknown`: it was asked for, and nobody answered or it came too late. */
export type Deletion = "none" | "unknown" | "done";

/** Everything that is known about one message. */
export interface SqsMessage {
  readonly tag: number;
  readonly queue: string;
  /** Of a FIFO queue; `null` on any other. */
  readonly group: string | null;
  readonly bytes: number;
  readonly delayMs: number;
  /** Before the call, so nothing can be due earlier than this and the delay. */
  readonly sentAtMs: number;
  outcome: SendOutcome;
  /** What SQS calls it, once it was received. */
  messageId: string | null;
  received: Receive | null;
  deletion: Deletion;
}

/** Whether it is owed: its producer was told that it is stored, and nobody has asked for its deletion since it last came. */
export function isOwed({ outcome, deletion }: SqsMessage): boolean {
  return outcome === "acknowledged" && deletion === "none";
}

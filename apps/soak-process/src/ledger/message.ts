import type { Sent } from "@sluice/harness/ledger";

/** Settlement of a delivery by the handler, and whether it is known that the broker has committed it. */
export type Settlement =
  | { readonly kind: "ack"; readonly atMs: number; committed: boolean }
  | { readonly kind: "retry"; readonly atMs: number; readonly delayMs: number; committed: boolean };

/** The latest delivery of a message by one queue. */
export interface Visit {
  /** Number of the epoch of the process in which it took place. */
  readonly epoch: number;
  readonly attempts: number;
  /** `null` while the handler has it. */
  settlement: Settlement | null;
}

/** Everything that is known about one message. */
export interface Message extends Sent {
  readonly delayMs: number;
  /** Before the call, so nothing can be due earlier than this and the delay. */
  readonly sentAtMs: number;
  readonly sentInEpoch: number;
  /** The latest visit to its own queue's handler and to that of the dead-letter queue. */
  own: Visit | null;
  dead: Visit | null;
}

/** Whether the message is done with: its last handler has acknowledged it. */
export function isSettled({ own, dead }: Message): boolean {
  return (dead ?? own)?.settlement?.kind === "ack";
}

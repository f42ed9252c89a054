import type { Sent } from "@sluice/harness/ledger";

/** Settlement of a delivery by its handler. `committed`: the broker is known to have committed it. */
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

/** Message with its latest deliveries. */
export interface Message extends Sent {
  readonly delayMs: number;
  /** Time before the call, in ms: the message is due no earlier than this and its delay. */
  readonly sentAtMs: number;
  readonly sentInEpoch: number;
  /** The latest delivery by its own queue; `null` before the first. */
  own: Visit | null;
  /** The latest delivery by the dead-letter queue; `null` before the first. */
  dead: Visit | null;
}

/** Whether the message is done with: its last handler has acknowledged it. */
export function isSettled({ own, dead }: Message): boolean {
  return (dead ?? own)?.settlement?.kind === "ack";
}

// Messages between the Workers under test and the process that keeps the ledger.

/** Order to send messages. `batch` is one `sendBatch`, `singles` are concurrent `send`s. */
export interface SendOrder {
  readonly queue: string;
  readonly how: "batch" | "singles";
  readonly messages: readonly { readonly body: string; readonly delaySeconds?: number }[];
}

/** Result of each message of an order: `null` if it is stored, else the error's text. */
export type SendAnswer = readonly (string | null)[];

/** A batch as a handler got it. */
export interface BatchReport {
  readonly queue: string;
  readonly messages: readonly { readonly id: string; readonly attempts: number; readonly body: string }[];
}

/** Instructions for the handler of a batch: settle some messages one by one, and then end in some way. */
export interface Verdict {
  /** Positions of messages to acknowledge. The end of the handler settles those that are not named. */
  readonly acks: readonly number[];
  readonly retries: readonly { readonly position: number; readonly delaySeconds: number }[];
  readonly ends: "returns" | "throws" | "acks all" | "retries all";
}

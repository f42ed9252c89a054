/** Messages between the Workers under test and the process that keeps the ledger. */

/** Something to send. `batch` is one `sendBatch`, `singles` as many concurrent `send`s. */
export interface SendOrder {
  readonly queue: string;
  readonly how: "batch" | "singles";
  readonly messages: readonly { readonly body: string; readonly delaySeconds?: number }[];
}

/** Results of an order's messages, one by one: `null` is stored, a text is why not. */
export type SendAnswer = readonly (string | null)[];

/** A batch as a handler got it. */
export interface BatchReport {
  readonly queue: string;
  readonly messages: readonly { readonly id: string; readonly attempts: number; readonly body: string }[];
}

/** Instructions for the handler of a batch: to settle some messages one by one, and then return or throw. */
export interface Verdict {
  /** By position; those that are not named are settled by how the handler ends. */
  readonly acks: readonly number[];
  readonly retries: readonly { readonly position: number; readonly delaySeconds: number }[];
  readonly ends: "returns" | "throws" | "acks all" | "retries all";
}

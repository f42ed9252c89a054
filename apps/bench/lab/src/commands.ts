import type { Bill } from "./bill.ts";

/** Command to the driver. `Answers` has the answer to each, by its kind. */
export type LabCommand =
  /** Sends messages by `sendBatch` (100 each by default), so many at once, and does not wait until they are handled. */
  | {
      readonly kind: "fill";
      readonly messages: number;
      readonly atOnce: number;
      readonly batchSize?: number;
      readonly delaySeconds: number;
    }
  /** Sends messages one by one from so many requests at once. */
  | { readonly kind: "send"; readonly requests: number; readonly messages: number }
  /** Sets what the handler does from now on; forgets what it has handled. */
  | { readonly kind: "behave"; readonly behaviour: Behaviour }
  | { readonly kind: "handled" }
  /** Calls the queue's object and so starts it. */
  | { readonly kind: "wake" }
  | { readonly kind: "bill" };

export type Behaviour =
  | { readonly kind: "acknowledge" }
  /** Retries every n-th message on its first delivery, after so many seconds. */
  | { readonly kind: "retryFirst"; readonly every: number; readonly delaySeconds: number };

export interface Answers {
  readonly fill: { readonly tookMs: number };
  readonly send: { readonly tookMs: number };
  readonly behave: Record<string, never>;
  readonly handled: HandledCounts;
  readonly wake: { readonly tookMs: number };
  readonly bill: Bill;
}

export interface HandledCounts {
  /** Messages delivered, again and again when retried. */
  readonly delivered: number;
  readonly acknowledged: number;
  readonly batches: number;
  /** Moment of the first and the latest delivery in ms since 1970, 0 before it. */
  readonly firstMs: number;
  readonly lastMs: number;
}

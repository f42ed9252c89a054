import type { Bill } from "./bill.ts";

/** Command to the driver. `Answers` has the type of each answer, by the command's kind. */
export type LabCommand =
  /** Sends messages by `sendBatch`, `atOnce` calls at a time, and does not wait until they are handled. */
  | {
      readonly kind: "fill";
      readonly messages: number;
      readonly atOnce: number;
      /** Messages of each call. Default 100. */
      readonly batchSize?: number;
      readonly delaySeconds: number;
    }
  /** Sends messages one by one from `requests` requests at once. */
  | { readonly kind: "send"; readonly requests: number; readonly messages: number }
  /** Sets the handler's behaviour and resets its counts. */
  | { readonly kind: "behave"; readonly behaviour: Behaviour }
  | { readonly kind: "handled" }
  /** Calls the queue's object, which starts it. */
  | { readonly kind: "wake" }
  | { readonly kind: "bill" };

export type Behaviour =
  | { readonly kind: "acknowledge" }
  /** Retries every `every`-th message on its first delivery, after `delaySeconds`. */
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
  /** Deliveries of messages, retries included. */
  readonly delivered: number;
  readonly acknowledged: number;
  readonly batches: number;
  /** Time of the first delivery in ms since 1970; 0 before it. */
  readonly firstMs: number;
  /** Time of the latest delivery in ms since 1970; 0 before the first. */
  readonly lastMs: number;
}

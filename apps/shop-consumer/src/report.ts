/** Report on an order as the consumer knows it: the last thing that happened to it. */
export type OrderReport =
  /** The card is charged. Final. */
  | { readonly state: "charged"; readonly id: string; readonly attempts: number; readonly cents: number }
  /** The last attempt failed and the message went back to the queue. */
  | {
      readonly state: "retrying";
      readonly id: string;
      readonly attempts: number;
      readonly reason: string;
      /** Milliseconds since the epoch of the next attempt, `null` when the queue's settings decide. */
      readonly nextAttemptAt: number | null;
    }
  /** Out of retries: the message arrived in the dead-letter queue. The attempts are those made before. */
  | {
      readonly state: "dead";
      readonly id: string;
      readonly attempts: number;
      readonly reason: string | null;
    };

/** How far a bulk run has come, in orders. Those that nothing was reported about are still queued. */
export interface BulkProgress {
  readonly id: string;
  readonly charged: number;
  readonly retrying: number;
  readonly dead: number;
}

/** Everything known about one customer's orders, the latest report first. */
export interface CustomerOrders {
  readonly orders: readonly OrderReport[];
  readonly bulks: readonly BulkProgress[];
}

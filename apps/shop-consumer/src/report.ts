/** Report on an order: the last thing that happened to it. */
export type OrderReport =
  /** The card is charged, which is final. */
  | { readonly state: "charged"; readonly id: string; readonly attempts: number; readonly cents: number }
  /** The last attempt failed and the message went back to the queue. */
  | {
      readonly state: "retrying";
      readonly id: string;
      readonly attempts: number;
      readonly reason: string;
      /** Time of the next attempt in ms since the epoch; `null` when the queue's settings decide. */
      readonly nextAttemptAt: number | null;
    }
  /** The last attempt failed, and the message moves to the dead-letter queue. */
  | {
      readonly state: "dead";
      readonly id: string;
      readonly attempts: number;
      readonly reason: string | null;
    };

/** Progress of a bulk run, in orders. Orders without a report are still queued. */
export interface BulkProgress {
  readonly id: string;
  readonly charged: number;
  readonly retrying: number;
  readonly dead: number;
}

/** All reports on one customer's orders, the latest first. */
export interface CustomerOrders {
  readonly orders: readonly OrderReport[];
  readonly bulks: readonly BulkProgress[];
}

/** One product of an order, with its price at the time of the order. */
export interface OrderLine {
  readonly sku: string;
  readonly quantity: number;
  readonly unitPriceCents: number;
}

/** Body of a message in the queue "orders". The consumer reads this shape: change both together. */
export interface Order {
  readonly id: string;
  /** Customer of the order, by whom its progress is stored. */
  readonly customer: string;
  /** Bulk run of the order; `null` for a single order. */
  readonly bulk: string | null;
  readonly lines: readonly OrderLine[];
  /** Time in ms since the epoch. */
  readonly placedAt: number;
}

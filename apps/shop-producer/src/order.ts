/** One product of an order, with the price it was ordered at. */
export interface OrderLine {
  readonly sku: string;
  readonly quantity: number;
  readonly unitPriceCents: number;
}

/** The body of a message in the queue "orders". The consumer reads this shape: change both together. */
export interface Order {
  readonly id: string;
  /** Customer of the order: the key under which its progress is kept. */
  readonly customer: string;
  /** The bulk run that the order is part of, `null` for one placed by itself. */
  readonly bulk: string | null;
  readonly lines: readonly OrderLine[];
  /** Milliseconds since the epoch. */
  readonly placedAt: number;
}

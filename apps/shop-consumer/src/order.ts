/** One product of an order, with its price at the time of the order. */
export interface OrderLine {
  readonly sku: string;
  readonly quantity: number;
  readonly unitPriceCents: number;
}

/** Body of a message in the queue "orders". */
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

/**
 * Reads a message body. Any sender may put anything into a body, so all of it is checked.
 *
 * @returns the order, or `null` when the body is not one.
 */
export function readOrder(body: unknown): Order | null {
  if (!isRecord(body)) return null;
  const { id, customer, bulk, lines, placedAt } = body;
  if (!isName(id) || !isName(customer) || !(bulk === null || isName(bulk))) return null;
  if (typeof placedAt !== "number" || !Number.isFinite(placedAt)) return null;
  if (!Array.isArray(lines) || lines.length === 0 || !lines.every(isLine)) return null;
  return { id, customer, bulk, lines, placedAt };
}

function isLine(value: unknown): value is OrderLine {
  if (!isRecord(value)) return false;
  return isName(value.sku) && isCount(value.quantity, 1) && isCount(value.unitPriceCents, 0);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isCount(value: unknown, least: number): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least;
}

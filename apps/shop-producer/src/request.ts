import { findProduct } from "./catalogue.ts";
import type { OrderLine } from "./order.ts";

/** Most different products in an order. */
export const LINES_MAX = 20;
/** Most pieces of one product in an order. */
export const QUANTITY_MAX = 10;
/** Longest delay of a message, in seconds: a day. */
export const DELAY_SECONDS_MAX = 86_400;
/** Most orders of one bulk request. */
export const BULK_COUNT_MAX = 10_000;

const CUSTOMER_PATTERN = /^[\w-]{8,64}$/;

/** Answer with an error for the sender. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Terms that every request for orders may set. */
export interface Terms {
  /** Id of the customer; `null` when the request does not say. */
  readonly customer: string | null;
  /** Seconds that the queue delays the order. Default: 0. */
  readonly delaySeconds: number;
}

/** Order that `POST /api/orders` asks for. */
export interface OrderRequest extends Terms {
  readonly lines: readonly OrderLine[];
}

/**
 * Checks the JSON body of `POST /api/orders`: `{ "items": [{ "sku": "mug", "quantity": 1 }], "customer"?: "...",
 * "delaySeconds"?: 10 }`. The price is the catalogue's, not the sender's. Throws `HttpError`.
 */
export function readOrderRequest(body: unknown): OrderRequest {
  if (!isRecord(body)) throw invalid("The body must be a JSON object");
  const { items } = body;
  if (!Array.isArray(items) || items.length === 0) {
    throw invalid('"items" must be a list of at least one { "sku", "quantity" }');
  }
  if (items.length > LINES_MAX) throw invalid(`"items" must hold at most ${LINES_MAX} products`);
  const lines: OrderLine[] = [];
  for (const [at, item] of items.entries()) {
    const line = readLine(item, `items[${at}]`);
    if (lines.some(({ sku }) => sku === line.sku)) {
      throw invalid(`items[${at}].sku: "${line.sku}" is listed twice`);
    }
    lines.push(line);
  }
  return { ...readTerms(body), lines };
}

/** Checks `customer` and `delaySeconds`, which single and bulk orders may set. Throws `HttpError`. */
export function readTerms(body: unknown): Terms {
  if (!isRecord(body)) throw invalid("The body must be a JSON object");
  const { customer = null, delaySeconds = 0 } = body;
  if (customer !== null && !isCustomerId(customer)) {
    throw invalid('"customer" must be 8 to 64 letters, digits, "-" or "_"');
  }
  if (!isWhole(delaySeconds, 0, DELAY_SECONDS_MAX)) {
    throw invalid(`"delaySeconds" must be a whole number from 0 to ${DELAY_SECONDS_MAX}`);
  }
  return { customer, delaySeconds };
}

/** Checks the `count` of `POST /api/orders/bulk?count=N`. Throws `HttpError`. */
export function readBulkCount(text: string | null): number {
  const count = text !== null && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!isWhole(count, 1, BULK_COUNT_MAX)) {
    throw invalid(`"count" must be a whole number from 1 to ${BULK_COUNT_MAX}`);
  }
  return count;
}

/** Whether a value can be the id of a customer. */
export function isCustomerId(value: unknown): value is string {
  return typeof value === "string" && CUSTOMER_PATTERN.test(value);
}

function readLine(item: unknown, where: string): OrderLine {
  if (!isRecord(item)) throw invalid(`${where} must be { "sku", "quantity" }`);
  const { sku, quantity } = item;
  const product = typeof sku === "string" ? findProduct(sku) : undefined;
  if (product === undefined)
    throw invalid(`${where}.sku: there is no product ${JSON.stringify(sku) ?? ""}`.trim());
  if (!isWhole(quantity, 1, QUANTITY_MAX)) {
    throw invalid(`${where}.quantity must be a whole number from 1 to ${QUANTITY_MAX}`);
  }
  return { sku: product.sku, quantity, unitPriceCents: product.priceCents };
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): HttpError {
  return new HttpError(400, message);
}

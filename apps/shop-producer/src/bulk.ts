import { CATALOGUE, findProduct } from "./catalogue.ts";
import type { Order } from "./order.ts";

/** Most messages in one `sendBatch`. */
export const SEND_BATCH_MAX = 100;

/** Number of vases in every hundred orders of a bulk run; they come first. */
const VASES_OF_100 = 1;
/** Number of lamps in every hundred orders; they follow. */
const LAMPS_OF_100 = 4;
/** Products of the other orders, in turn. */
const ORDINARY_SKUS = ["mug", "notebook", "fern", "kite"] as const;

/** Makes the orders of a bulk run, of one product each. Equal arguments make equal orders. */
export function bulkOrders(bulk: string, customer: string, count: number, placedAt: number): Order[] {
  return Array.from({ length: count }, (_, at) => {
    const product = findProduct(bulkSku(at)) ?? CATALOGUE[0]!; // The catalogue is a constant with products in it.
    const line = { sku: product.sku, quantity: 1, unitPriceCents: product.priceCents };
    return { id: `${bulk}-${at + 1}`, customer, bulk, lines: [line], placedAt };
  });
}

/** Cuts a list into parts of at most `size`. */
export function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}

function bulkSku(at: number): string {
  const ofHundred = at % 100;
  if (ofHundred < VASES_OF_100) return "vase";
  if (ofHundred < VASES_OF_100 + LAMPS_OF_100) return "lamp";
  return ORDINARY_SKUS[at % ORDINARY_SKUS.length]!; // The remainder is an index of the list.
}

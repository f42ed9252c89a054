import type { Order } from "./order.ts";

/** Outcome of one attempt to charge the card. */
export type Charge =
  | { readonly kind: "charged"; readonly cents: number }
  /** Worth another attempt after `retryInSeconds`. */
  | { readonly kind: "interrupted"; readonly reason: string; readonly retryInSeconds: number }
  /** No attempt will do better: the queue's own retry settings decide how soon it is given up. */
  | { readonly kind: "refused"; readonly reason: string };

/** Attempts that fail on purpose before the lamp is paid. */
const LAMP_FAILURES = 2;
/** One attempt in this many fails for the kite. */
const KITE_ODDS = 3;
/** The longest wait that the backoff asks for, in seconds. */
const BACKOFF_MAX_SECONDS = 60;

/**
 * Charges the card of an order, or pretends to: no money moves, and which attempt fails is decided by the order and the
 * attempt alone. The same attempt of the same order always ends the same way, so a message that is delivered
 * twice does no harm. A payment provider gives the same promise for an idempotency key; `order.id` is made to be one.
 *
 * @param attempt 1 on the first delivery, as in `message.attempts`.
 */
export function chargeCard(order: Order, attempt: number): Charge {
  const skus = new Set(order.lines.map((line) => line.sku));
  if (skus.has("vase")) {
    return { kind: "refused", reason: "The vase has cursed the card reader" };
  }
  if (skus.has("lamp") && attempt <= LAMP_FAILURES) {
    return interrupted("The lamp flickered and the card reader lost power", attempt);
  }
  if (skus.has("kite") && hash(`${order.id}/${attempt}`) % KITE_ODDS === 0) {
    return interrupted("A gust took the receipt", attempt);
  }
  return { kind: "charged", cents: totalCents(order) };
}

/** Seconds to wait after the given attempt: 2, 4, 8 and so on, at most 60. */
export function backoffSeconds(attempt: number): number {
  return Math.min(2 ** attempt, BACKOFF_MAX_SECONDS);
}

function interrupted(reason: string, attempt: number): Charge {
  return { kind: "interrupted", reason, retryInSeconds: backoffSeconds(attempt) };
}

function totalCents(order: Order): number {
  return order.lines.reduce((sum, line) => sum + line.quantity * line.unitPriceCents, 0);
}

/**
 * FNV-1a, 32 bits, and MurmurHash3's last step. Without that step texts that differ in their last letter alone, as two
 * attempts of one order do, have hashes alike: no kite ever failed four times.
 */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

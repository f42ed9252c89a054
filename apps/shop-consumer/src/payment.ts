import type { Order } from "./order.ts";

/** Outcome of one attempt to charge the card. */
export type Charge =
  | { readonly kind: "charged"; readonly cents: number }
  /** Another attempt after `retryInSeconds` may succeed. */
  | { readonly kind: "interrupted"; readonly reason: string; readonly retryInSeconds: number }
  /** No further attempt will succeed: the queue's own retry settings decide how soon the message is dead. */
  | { readonly kind: "refused"; readonly error: Error };

/** Retries of an order before it moves to the dead-letter queue: `max_retries` in `wrangler.toml`. */
export const RETRIES_MAX = 3;
/** Attempts that fail on purpose before the lamp is paid. */
const LAMP_FAILURES = 2;
/** One in this many attempts fails for the kite. */
const KITE_ODDS = 3;
/** Longest wait of the backoff, in seconds. */
const BACKOFF_MAX_SECONDS = 60;

/** Failure of every attempt to charge an order with a cursed vase. */
export class CursedVaseError extends Error {
  override readonly name = "CursedVaseError";

  constructor() {
    super("The vase has cursed the card reader");
  }
}

/**
 * Pretends to charge the card of an order: no money moves, and only the order and the attempt decide which attempt
 * fails. The same attempt of the same order always has the same outcome, so a message that is delivered twice does no
 * harm. A payment provider guarantees the same for an idempotency key, such as `order.id`.
 *
 * @param attempt number of the delivery from 1, as in `message.attempts`.
 */
export function chargeCard(order: Order, attempt: number): Charge {
  const skus = new Set(order.lines.map((line) => line.sku));
  if (skus.has("vase")) {
    return { kind: "refused", error: new CursedVaseError() };
  }
  if (skus.has("lamp") && attempt <= LAMP_FAILURES) {
    return interrupted("The lamp flickered and the card reader lost power", attempt);
  }
  if (skus.has("kite") && hash(`${order.id}/${attempt}`) % KITE_ODDS === 0) {
    return interrupted("A gust took the receipt", attempt);
  }
  return { kind: "charged", cents: totalCents(order) };
}

/** Returns the seconds to wait after an attempt: 2, 4, 8 and so on, at most 60. */
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
 * Hashes a text by FNV-1a, 32 bits, and MurmurHash3's last step. Without that step, texts that differ only in their
 * last letter, as two attempts of one order do, have similar hashes: no kite ever failed four times.
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

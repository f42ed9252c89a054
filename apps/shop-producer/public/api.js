/**
 * Calls the shop's own API. Every call rejects with an `Error` whose message can be shown.
 *
 * @typedef {{ sku: string, name: string, blurb: string, priceCents: number }} Product
 * @typedef {{ sku: string, quantity: number, unitPriceCents: number }} OrderLine
 * @typedef {import("./progress.js").OrderReport} OrderReport
 * @typedef {import("./progress.js").RunReport} RunReport
 */

/** @returns {Promise<Product[]>} */
export async function fetchProducts() {
  return (await call("/api/products")).products;
}

/**
 * Follows what becomes of a customer's orders.
 *
 * @param {string} customer
 * @param {(news: { orders: OrderReport[], bulks: RunReport[] }) => void} onNews called with all of it at each change
 * @param {() => void} onEnd called once when the connection is lost, which ends it
 * @returns {() => void} ends it
 */
export function followOrders(customer, onNews, onEnd) {
  const source = new EventSource(`/api/orders/live?customer=${encodeURIComponent(customer)}`);
  source.addEventListener("message", ({ data }) => onNews(JSON.parse(data)));
  source.addEventListener("error", () => {
    source.close();
    onEnd();
  });
  return () => source.close();
}

/**
 * @param {{ customer: string, items: { sku: string, quantity: number }[], delaySeconds: number }} order
 * @returns {Promise<{ order: { id: string, lines: OrderLine[], placedAt: number }, delaySeconds: number }>}
 */
export async function placeOrder(order) {
  return await call("/api/orders", order);
}

/**
 * @param {number} count
 * @param {{ customer: string, delaySeconds: number }} terms
 * @returns {Promise<{ bulk: { id: string, count: number, placedAt: number }, delaySeconds: number }>}
 */
export async function placeRun(count, terms) {
  return await call(`/api/orders/bulk?count=${count}`, terms);
}

/**
 * @param {string} path
 * @param {unknown} [body] body of a POST; a GET without it
 */
async function call(path, body) {
  /** @type {RequestInit} */
  const init =
    body === undefined
      ? {}
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, init).catch(() => {
    throw new Error("The shop cannot be reached.");
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The shop answered ${response.status}.`);
  return answer;
}

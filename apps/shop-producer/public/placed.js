/**
 * Orders placed in this browser. The last report of each is stored with it, so that a settled order stays so after the
 * shop has forgotten it.
 *
 * @typedef {import("./progress.js").OrderReport} OrderReport
 * @typedef {import("./progress.js").RunReport} RunReport
 * @typedef {{ kind: "order", id: string, lines: { sku: string, quantity: number }[], placedAt: number, delaySeconds: number, report?: OrderReport }} PlacedOrder
 * @typedef {{ kind: "run", id: string, count: number, placedAt: number, delaySeconds: number, report?: RunReport }} PlacedRun
 * @typedef {PlacedOrder | PlacedRun} Placed
 */
import { isOrderSettled, isRunSettled } from "./progress.js";

/** Most orders that are remembered: the shop reports a hundred orders and twenty runs. */
const PLACED_MAX = 60;
const PLACED_KEY = "shop.placed";
const CUSTOMER_KEY = "shop.customer";

/** Returns the name under which this browser orders, made at its first visit. */
export function customerId() {
  const known = localStorage.getItem(CUSTOMER_KEY);
  if (known !== null) return known;
  // Not randomUUID, which exists only on HTTPS and on localhost.
  const made = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(36)).join("");
  localStorage.setItem(CUSTOMER_KEY, made);
  return made;
}

/**
 * Loads the placed orders, the latest first.
 *
 * @returns {Placed[]}
 */
export function loadPlaced() {
  try {
    const placed = JSON.parse(localStorage.getItem(PLACED_KEY) ?? "[]");
    return Array.isArray(placed) ? placed : [];
  } catch {
    return [];
  }
}

/** @param {Placed[]} placed */
export function savePlaced(placed) {
  localStorage.setItem(PLACED_KEY, JSON.stringify(placed.slice(0, PLACED_MAX)));
}

/**
 * Adds new reports. Settled orders stay settled.
 *
 * @param {Placed[]} placed
 * @param {{ orders: OrderReport[], bulks: RunReport[] }} news
 * @returns {Placed[]}
 */
export function withNews(placed, news) {
  const orders = new Map(news.orders.map((report) => [report.id, report]));
  const runs = new Map(news.bulks.map((report) => [report.id, report]));
  return placed.map((entry) => {
    if (isSettled(entry)) return entry;
    if (entry.kind === "order") {
      const report = orders.get(entry.id);
      return report === undefined ? entry : { ...entry, report };
    }
    const report = runs.get(entry.id);
    return report === undefined ? entry : { ...entry, report };
  });
}

/**
 * Whether nothing more will happen to the order or the run.
 *
 * @param {Placed} entry
 */
export function isSettled(entry) {
  return entry.kind === "order" ? isOrderSettled(entry.report) : isRunSettled(entry.count, entry.report);
}

/** Formats of the page's numbers. */

const money = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });
const whole = new Intl.NumberFormat("en-US");

/** @param {number} cents */
export function formatMoney(cents) {
  return money.format(cents / 100);
}

/** @param {number} count */
export function formatCount(count) {
  return whole.format(count);
}

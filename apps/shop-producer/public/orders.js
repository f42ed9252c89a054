/** List of the placed orders, with the line in the header that sums it up. */
import { formatCount } from "./format.js";
import { find, setText, stamp } from "./page.js";
import { isSettled } from "./placed.js";
import { describeOrder, isRunSettled, shareRun } from "./progress.js";

/**
 * @typedef {import("./placed.js").Placed} Placed
 * @typedef {import("./placed.js").PlacedOrder} PlacedOrder
 * @typedef {import("./placed.js").PlacedRun} PlacedRun
 */

/**
 * Elements of the list by order id. An entry keeps its element, so that bars grow instead of jumping.
 *
 * @type {Map<string, HTMLElement>}
 */
const elements = new Map();

/**
 * @param {Placed[]} placed the latest first
 * @param {(sku: string) => string} nameOf
 * @param {number} now
 */
export function showOrders(placed, nameOf, now) {
  const list = find(document, "#orders-list", HTMLElement);
  const gone = new Set(elements.keys());
  placed.forEach((entry, at) => {
    gone.delete(entry.id);
    const element =
      elements.get(entry.id) ?? stamp(entry.kind === "order" ? "order-template" : "run-template");
    elements.set(entry.id, element);
    if (entry.kind === "order") showOrder(element, entry, nameOf, now);
    else showRun(element, entry, now);
    const there = list.children[at];
    if (there !== element) list.insertBefore(element, there ?? null);
  });
  for (const id of gone) {
    elements.get(id)?.remove();
    elements.delete(id);
  }
  find(document, "#orders-empty", HTMLElement).hidden = placed.length > 0;
  find(document, "#orders-scroll", HTMLElement).hidden = placed.length === 0;
  find(document, "#clear", HTMLElement).hidden = !placed.some(isSettled);
  showPulse(placed);
}

/**
 * @param {HTMLElement} element
 * @param {PlacedOrder} order
 * @param {(sku: string) => string} nameOf
 * @param {number} now
 */
function showOrder(element, order, nameOf, now) {
  const { state, label, detail, marks } = describeOrder(order, order.report, now);
  element.dataset.state = state;
  const title = order.lines.map(
    ({ sku, quantity }) => `${quantity > 1 ? `${quantity} × ` : ""}${nameOf(sku)}`,
  );
  setText(find(element, ".order-title", HTMLElement), title.join(", "));
  setText(find(element, ".pill", HTMLElement), label);
  setText(find(element, ".order-detail", HTMLElement), detail);
  setText(
    find(element, ".order-number", HTMLElement),
    `No. ${order.id.slice(0, 8)} · ${clockTime(order.placedAt)}`,
  );
  const drawn = find(element, ".marks", HTMLElement);
  const wanted = marks.join(" ");
  if (drawn.dataset.marks === wanted) return;
  drawn.dataset.marks = wanted;
  drawn.replaceChildren(
    ...marks.map((mark) => {
      const dot = document.createElement("i");
      dot.dataset.mark = mark;
      return dot;
    }),
  );
}

/**
 * @param {HTMLElement} element
 * @param {PlacedRun} run
 * @param {number} now
 */
function showRun(element, run, now) {
  const shares = shareRun(run.count, run.report);
  const settled = isRunSettled(run.count, run.report);
  const state = settled ? "charged" : shares.queued === run.count ? "queued" : "retrying";
  element.dataset.state = state;
  const { label } = describeOrder(run, undefined, now);
  setText(find(element, ".order-title", HTMLElement), `Rush hour: ${formatCount(run.count)} orders`);
  setText(
    find(element, ".pill", HTMLElement),
    settled ? "Settled" : state === "queued" ? label : "In progress",
  );
  const words = [];
  for (const [share, count] of Object.entries(shares)) {
    words.push(`${formatCount(count)} ${share}`);
    setText(find(element, `.legend [data-share=${share}] dd`, HTMLElement), formatCount(count));
    const part = element.querySelector(`.bar [data-share=${share}]`);
    if (part instanceof HTMLElement) part.style.width = `${(100 * count) / run.count}%`;
  }
  find(element, ".bar", HTMLElement).setAttribute("aria-label", words.join(", "));
}

/** @param {Placed[]} placed */
function showPulse(placed) {
  let open = 0;
  for (const entry of placed) {
    if (entry.kind === "order") open += isSettled(entry) ? 0 : 1;
    else {
      const { queued, retrying } = shareRun(entry.count, entry.report);
      open += queued + retrying;
    }
  }
  find(document, "#pulse", HTMLElement).dataset.busy = String(open > 0);
  const text =
    open === 0 ? "Nothing on its way" : `${formatCount(open)} ${open === 1 ? "order" : "orders"} on the way`;
  setText(find(document, "#pulse-text", HTMLElement), text);
}

/** @param {number} at */
function clockTime(at) {
  return new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

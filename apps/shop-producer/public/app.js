import { fetchProducts, followOrders, placeOrder, placeRun } from "./api.js";
import { formatCount } from "./format.js";
import { showOrders } from "./orders.js";
import { find, messageOf, say, setText, toastFailure } from "./page.js";
import { customerId, isSettled, loadPlaced, savePlaced, withNews } from "./placed.js";
import { describeOrder } from "./progress.js";
import { openShelf } from "./shelf.js";

/** Interval in ms at which countdowns are updated. */
const SHOW_EVERY_MS = 1000;
/** Time in ms after which a lost connection is made again. */
const FOLLOW_AGAIN_MS = 3000;

const customer = customerId();
let placed = loadPlaced();
/** @type {Map<string, string>} */
const names = new Map();
const orderStatusError = find(document, "#orders-error", HTMLElement);
/** @type {(() => void) | undefined} */
let endFollowing;
/** @type {number | undefined} */
let againTimer;

function show() {
  showOrders(placed, (sku) => names.get(sku) ?? sku, Date.now());
}

/** @param {import("./placed.js").Placed} entry */
function remember(entry) {
  placed = [entry, ...loadPlaced()];
  savePlaced(placed);
  show();
  find(document, "#orders-scroll", HTMLElement).scrollTop = 0;
  follow();
}

/** Follows the orders until all of them are settled. A hidden page does not. */
function follow() {
  clearTimeout(againTimer);
  const isNeeded = !document.hidden && !placed.every(isSettled);
  if (!isNeeded) {
    endFollowing?.();
    endFollowing = undefined;
    return;
  }
  endFollowing ??= followOrders(customer, hear, () => {
    endFollowing = undefined;
    orderStatusError.hidden = false;
    againTimer = setTimeout(follow, FOLLOW_AGAIN_MS);
  });
}

/** @param {Parameters<typeof withNews>[1]} news */
function hear(news) {
  // Read again, because another tab may have placed an order meanwhile.
  const before = loadPlaced();
  placed = withNews(before, news);
  savePlaced(placed);
  orderStatusError.hidden = true;
  announce(before);
  show();
  follow();
}

/**
 * Has new results read out.
 *
 * @param {import("./placed.js").Placed[]} before
 */
function announce(before) {
  const open = new Set(before.filter((entry) => !isSettled(entry)).map(({ id }) => id));
  const settled = placed.filter((entry) => open.has(entry.id) && isSettled(entry));
  if (settled.length > 0) say(settled.map(settledWords).join(" "));
}

/** @param {import("./placed.js").Placed} entry */
function settledWords(entry) {
  if (entry.kind === "run") return `All ${formatCount(entry.count)} orders of the rush hour are settled.`;
  return `${describeOrder(entry, entry.report, Date.now()).detail}.`;
}

function delaySeconds() {
  return Number(find(document, "#delay", HTMLSelectElement).value);
}

/**
 * Runs the action of a button, once at a time, and shows its failure.
 *
 * @param {HTMLButtonElement} button
 * @param {() => Promise<void>} work
 */
async function press(button, work) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (failure) {
    toastFailure(failure);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

async function openShop() {
  const error = find(document, "#products-error", HTMLElement);
  error.hidden = true;
  try {
    const products = await fetchProducts();
    for (const { sku, name } of products) names.set(sku, name);
    const shelf = openShelf(products);
    find(document, "#basket", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      press(find(document, "#basket [type=submit]", HTMLButtonElement), async () => {
        const terms = { customer, items: shelf.items(), delaySeconds: delaySeconds() };
        const { order, delaySeconds: delay } = await placeOrder(terms);
        shelf.clear();
        remember({
          kind: "order",
          id: order.id,
          lines: order.lines,
          placedAt: order.placedAt,
          delaySeconds: delay,
        });
      });
    });
    show();
  } catch (failure) {
    setText(find(error, "p", HTMLElement), messageOf(failure));
    error.hidden = false;
  }
}

for (const button of find(document, "#rush", HTMLElement).querySelectorAll("button")) {
  button.addEventListener("click", () =>
    press(button, async () => {
      const terms = { customer, delaySeconds: delaySeconds() };
      const { bulk, delaySeconds: delay } = await placeRun(Number(button.dataset.count), terms);
      remember({ kind: "run", id: bulk.id, count: bulk.count, placedAt: bulk.placedAt, delaySeconds: delay });
    }),
  );
}
find(document, "#products-error button", HTMLButtonElement).addEventListener("click", openShop);
find(document, "#clear", HTMLButtonElement).addEventListener("click", () => {
  placed = loadPlaced().filter((entry) => !isSettled(entry));
  savePlaced(placed);
  show();
});
document.addEventListener("visibilitychange", follow);
addEventListener("storage", () => {
  placed = loadPlaced();
  show();
  follow();
});
setInterval(() => {
  if (endFollowing !== undefined) show();
}, SHOW_EVERY_MS);

show();
follow();
openShop();

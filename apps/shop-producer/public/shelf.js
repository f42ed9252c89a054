/** The products and the basket. */
import { formatMoney } from "./format.js";
import { find, setText, stamp } from "./page.js";

/** Most pieces of one product in an order. */
const QUANTITY_MAX = 10;

/** @typedef {import("./api.js").Product} Product */

/**
 * Shows the products and keeps the basket.
 *
 * @param {Product[]} products
 * @returns {{ items(): { sku: string, quantity: number }[], clear(): void }}
 */
export function openShelf(products) {
  /** @type {Map<string, number>} */
  const basket = new Map();
  const cards = new Map(products.map((product) => [product.sku, productCard(product, change)]));
  find(document, "#products", HTMLElement).replaceChildren(...cards.values());
  show();

  /**
   * @param {string} sku
   * @param {number} step
   */
  function change(sku, step) {
    const quantity = Math.min(QUANTITY_MAX, Math.max(0, (basket.get(sku) ?? 0) + step));
    if (quantity === 0) basket.delete(sku);
    else basket.set(sku, quantity);
    show();
  }

  function show() {
    for (const [sku, card] of cards) showQuantity(card, basket.get(sku) ?? 0);
    const lines = products.filter(({ sku }) => basket.has(sku));
    const cents = lines.reduce((sum, { sku, priceCents }) => sum + priceCents * (basket.get(sku) ?? 0), 0);
    find(document, "#basket-empty", HTMLElement).hidden = lines.length > 0;
    find(document, "#basket-lines", HTMLElement).replaceChildren(
      ...lines.map((product) => basketLine(product, basket.get(product.sku) ?? 0)),
    );
    setText(find(document, "#total", HTMLElement), formatMoney(cents));
    find(document, "#basket [type=submit]", HTMLButtonElement).disabled = lines.length === 0;
  }

  return {
    items: () => Array.from(basket, ([sku, quantity]) => ({ sku, quantity })),
    clear() {
      basket.clear();
      show();
    },
  };
}

/**
 * @param {Product} product
 * @param {(sku: string, step: number) => void} change
 */
function productCard(product, change) {
  const card = stamp("product-template");
  card.dataset.sku = product.sku;
  find(card, "img", HTMLImageElement).src = `/products/${product.sku}.svg`;
  setText(find(card, ".product-name", HTMLElement), product.name);
  setText(find(card, ".product-price", HTMLElement), formatMoney(product.priceCents));
  setText(find(card, ".product-blurb", HTMLElement), product.blurb);
  for (const button of card.querySelectorAll("button")) {
    const step = Number(button.dataset.step);
    const verb = button.classList.contains("add") ? "Add" : step > 0 ? "One more" : "One less";
    button.setAttribute("aria-label", `${verb}: ${product.name}`);
    button.addEventListener("click", () => {
      change(product.sku, step);
      // The pressed button may be gone now: the focus moves to the one in its place.
      if (button.offsetParent === null) {
        const heir = Array.from(card.querySelectorAll("button")).find(
          ({ offsetParent, disabled }) => offsetParent !== null && !disabled,
        );
        heir?.focus();
      }
    });
  }
  return card;
}

/**
 * @param {HTMLElement} card
 * @param {number} quantity
 */
function showQuantity(card, quantity) {
  card.dataset.chosen = String(quantity > 0);
  setText(find(card, ".step-count", HTMLElement), String(quantity));
  find(card, '.step[data-step="1"]', HTMLButtonElement).disabled = quantity === QUANTITY_MAX;
}

/**
 * @param {Product} product
 * @param {number} quantity
 */
function basketLine(product, quantity) {
  const line = document.createElement("li");
  const name = document.createElement("span");
  const price = document.createElement("span");
  name.textContent = `${quantity} × ${product.name}`;
  price.textContent = formatMoney(product.priceCents * quantity);
  line.append(name, price);
  return line;
}

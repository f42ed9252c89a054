/** Finds elements of the page and writes into them. */

/**
 * Returns the one element that the selector finds.
 *
 * @template {Element} Wanted
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => Wanted} type
 * @returns {Wanted}
 * @throws when there is none of that type, because the page and its script do not fit.
 */
export function find(root, selector, type) {
  const element = root.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`The page has no ${type.name} ${selector}`);
  return element;
}

/**
 * Copies a template's only element.
 *
 * @param {string} id
 */
export function stamp(id) {
  const copy = find(document, `#${id}`, HTMLTemplateElement).content.firstElementChild?.cloneNode(true);
  if (!(copy instanceof HTMLElement)) throw new Error(`The template ${id} is empty`);
  return copy;
}

/**
 * Writes a text if it differs, so that nothing is laid out or read out again.
 *
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @type {number | undefined} */
let toastTimer;

/**
 * Shows a failure at the foot of the page for a few seconds, and has it read out.
 *
 * @param {unknown} failure
 */
export function toastFailure(failure) {
  const element = find(document, "#toast", HTMLElement);
  element.textContent = messageOf(failure);
  element.dataset.shown = "true";
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    element.dataset.shown = "false";
  }, 6000);
}

/**
 * Has a text read out that the page shows anyway.
 *
 * @param {string} text
 */
export function say(text) {
  find(document, "#said", HTMLElement).textContent = text;
}

/** @param {unknown} failure */
export function messageOf(failure) {
  return failure instanceof Error ? failure.message : String(failure);
}

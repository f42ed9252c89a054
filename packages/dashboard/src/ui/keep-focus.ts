/**
 * Moves the focus on where the element that has it goes or is disabled: to the nearest heading or list that can have
 * it. Browsers would give it to the document, and a keyboard user would begin at the top of the page.
 */
export function keepFocus(): void {
  /** Element that had the focus last, and those around it. */
  let path: readonly Element[] = [];
  addEventListener("focusin", (event) => {
    path = event.composedPath().filter((target) => target instanceof Element);
  });
  // A click beside everything takes the focus away on purpose.
  addEventListener("pointerdown", () => {
    path = [];
  });
  const move = () => {
    const [last, ...around] = path;
    const { activeElement: active, body } = document;
    if (last === undefined || (active !== body && active !== last)) return;
    if (last.isConnected && !last.matches(":disabled")) return;
    const places = around.map((part) =>
      part.isConnected ? part.querySelector<HTMLElement>('[tabindex="-1"]') : null,
    );
    places.find((place) => place !== null)?.focus();
  };
  const watched = { childList: true, subtree: true, attributeFilter: ["disabled"] };
  new MutationObserver(move).observe(document.body, watched);
}

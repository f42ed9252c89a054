import { useLayoutEffect } from "preact/hooks";

/** Key under which a browser remembers that shortcuts are off: readers who use speech press keys by accident. */
const OFF_KEY = "sluice-no-shortcuts";

export function hasShortcuts(): boolean {
  return localStorage.getItem(OFF_KEY) === null;
}

export function setShortcuts(isOn: boolean): void {
  if (isOn) localStorage.removeItem(OFF_KEY);
  else localStorage.setItem(OFF_KEY, "1");
}

/** Calls the function of a key, unless it is pressed in a field, with another key, or while a dialog is open. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  // Before the page is painted: a reader who sees it may press a key.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const run = keys[event.key];
      if (run === undefined || event.ctrlKey || event.metaKey || event.altKey || !hasShortcuts()) return;
      if (isField(event.target) || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

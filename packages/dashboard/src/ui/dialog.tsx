import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called when it was closed: by a button, by Escape, or because its form was submitted. */
  readonly closed: () => void;
}

/** A dialog that is open as long as it is rendered. The element that opened it gets the focus back, by the browser. */
export function Dialog({ title, children, closed }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // The dialog is closed before it is taken out of the page: else the browser would not give the focus back.
  useLayoutEffect(() => {
    const open = dialog.current;
    open?.showModal();
    return () => open?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onClose={closed}>
      <div class="stack">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

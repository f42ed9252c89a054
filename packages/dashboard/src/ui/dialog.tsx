import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called when it was closed: by a button, by Escape, or because its form was submitted. */
  readonly closed: () => void;
}

/** A dialog that is open as long as it is rendered. The element that opened it gets the focus back. */
export function Dialog({ title, children, closed }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
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

import { useRef, useState } from "preact/hooks";

interface ConfirmButtonProps {
  readonly label: string;
  readonly question: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly run: () => void;
}

/** A button for what cannot be undone: it asks first. */
export function ConfirmButton({ label, question, isDangerous, isDisabled, run }: ConfirmButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // What it asks stays as it was asked, whatever arrives meanwhile.
  const [asked, setAsked] = useState(question);
  const className = isDangerous ? "danger" : "";
  return (
    <>
      <button
        type="button"
        class={className}
        disabled={isDisabled ?? false}
        onClick={() => {
          setAsked(question);
          dialog.current?.showModal();
        }}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-label={label}>
        <p>{asked}</p>
        <div class="row">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="button"
            class={className}
            onClick={() => {
              dialog.current?.close();
              run();
            }}
          >
            {label}
          </button>
        </div>
      </dialog>
    </>
  );
}

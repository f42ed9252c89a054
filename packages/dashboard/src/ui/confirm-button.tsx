import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

interface ConfirmButtonProps {
  readonly label: string;
  readonly question: string;
  readonly isDangerous?: boolean;
  readonly run: () => void;
}

/** A button for an action that cannot be undone: it asks first. */
export function ConfirmButton({ label, question, isDangerous, run }: ConfirmButtonProps) {
  // The question stays as it was asked while new figures arrive.
  const [asked, setAsked] = useState<string | null>(null);
  const className = isDangerous ? "danger" : "";
  return (
    <>
      <button type="button" class={className} onClick={() => setAsked(question)}>
        {label}
      </button>
      {asked === null ? null : (
        <Dialog title={label} closed={() => setAsked(null)}>
          <p>{asked}</p>
          <div class="row end">
            <button type="button" onClick={() => setAsked(null)}>
              Cancel
            </button>
            <button
              type="button"
              class={className}
              onClick={() => {
                setAsked(null);
                run();
              }}
            >
              {label}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

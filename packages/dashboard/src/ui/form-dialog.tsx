import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { errorText } from "../api/call.ts";
import { Dialog } from "./dialog.tsx";

interface FormDialogProps {
  readonly title: string;
  readonly label: string;
  /** Whether what is filled in cannot be submitted. */
  readonly isDisabled?: boolean;
  /** Whether what it does cannot be undone. */
  readonly isDangerous?: boolean;
  readonly submit: () => Promise<void>;
  readonly closed: () => void;
  readonly children: ComponentChildren;
}

/** A dialog with a form. It closes once `submit` has resolved; it shows the error that `submit` rejects with. */
export function FormDialog({
  title,
  label,
  isDisabled = false,
  isDangerous = false,
  submit,
  closed,
  children,
}: FormDialogProps) {
  const [failure, setFailure] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  return (
    <Dialog title={title} closed={closed}>
      <form
        class="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          if (isDisabled || isBusy) return;
          setIsBusy(true);
          try {
            await submit();
            closed();
          } catch (error) {
            setFailure(errorText(error));
            setIsBusy(false);
          }
        }}
      >
        {children}
        {failure === "" ? null : (
          <p role="alert" class="lost">
            {failure}
          </p>
        )}
        <div class="row end">
          <button type="button" onClick={closed}>
            Cancel
          </button>
          <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isDisabled}>
            {label}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

import { useState } from "preact/hooks";

interface CopyButtonProps {
  readonly label: string;
  readonly text: string;
}

/** Puts a text on the clipboard, which browsers allow on this machine and by https alone: else the button says so. */
export function CopyButton({ label, text }: CopyButtonProps) {
  const [shown, setShown] = useState(label);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setShown("Copied");
    } catch {
      setShown("Not allowed here");
    }
  };
  const reset = () => setShown(label);
  return (
    <button
      type="button"
      class="plain"
      aria-live="polite"
      onClick={copy}
      onBlur={reset}
      onPointerLeave={reset}
    >
      {shown}
    </button>
  );
}

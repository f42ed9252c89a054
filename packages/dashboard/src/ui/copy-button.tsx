import { useState } from "preact/hooks";

interface CopyButtonProps {
  readonly label: string;
  readonly text: string;
}

/** How long the button says whether the copy has succeeded, in ms. */
const SAID_MS = 2_000;

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
    setTimeout(() => setShown(label), SAID_MS);
  };
  return (
    <button type="button" class="plain" aria-live="polite" onClick={copy}>
      {shown}
    </button>
  );
}

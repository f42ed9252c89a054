import { stackLines, userPlace } from "@sluice/protocol/stack";
import { plural } from "@sluice/protocol/words";
import type { ComponentChildren } from "preact";
import { CopyButton } from "./copy-button.tsx";

interface ScrolledProps {
  readonly label: string;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** Scrolls content that may be too long or too wide. It has the focus, so that it scrolls by keyboard too. */
export function Scrolled({ label, class: className, children }: ScrolledProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class={className} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

interface OwnFramesProps {
  readonly lines: readonly string[];
  readonly isOpen?: boolean;
}

/** Folds the frames of a stack trace that are not the user's. */
export function OwnFrames({ lines, isOpen = false }: OwnFramesProps) {
  return (
    <details open={isOpen}>
      <summary class="quiet">{plural(lines.length, "frame")} of Sluice and the runtime</summary>
      <pre>{lines.join("\n")}</pre>
    </details>
  );
}

/** Shows the text of a thrown value, with its stack. Frames that are not the user's are folded. */
export function Thrown({ children }: { readonly children: string }) {
  const parts: { readonly isOwn: boolean; readonly lines: string[] }[] = [];
  for (const { kind, text } of stackLines(children)) {
    const isOwn = kind === "own";
    const last = parts.at(-1);
    if (last?.isOwn === isOwn) last.lines.push(text);
    else parts.push({ isOwn, lines: [text] });
  }
  return (
    <Scrolled label="What was thrown" class="stack-trace">
      {parts.map(({ isOwn, lines }, i) =>
        isOwn ? (
          <OwnFrames key={i} lines={lines} isOpen={userPlace(children) === null} />
        ) : (
          <pre key={i}>{lines.join("\n")}</pre>
        ),
      )}
    </Scrolled>
  );
}

/** Shows an error in a list: a long message ends in dots, and where it was thrown stays in sight behind it. */
export function ErrorLine({ children: error }: { readonly children: string }) {
  const at = error.endsWith(")") ? error.lastIndexOf(" (") : -1;
  const end = at === -1 ? error.length : at;
  return (
    <span class="error" title={error}>
      <span class="why">{error.slice(0, end)}</span>
      {error.slice(end)}
    </span>
  );
}

/** Shows the messages of an error and of its causes, and where in the user's code it began; its stack is folded. */
export function ErrorText({ children }: { readonly children: string }) {
  const lines = stackLines(children);
  const messages = lines.filter(({ kind, text }) => kind === "text" && text.trim() !== "");
  if (messages.length === lines.length) return <div>{children}</div>;
  const place = userPlace(children);
  return (
    <div class="error">
      {messages.map(({ text }, i) => (
        <div key={i}>{text}</div>
      ))}
      {place === null ? null : (
        <div class="row">
          <code>{place}</code>
          <CopyButton label="Copy place" text={place} />
        </div>
      )}
      <details>
        <summary class="quiet">Stack</summary>
        <Thrown>{children}</Thrown>
      </details>
    </div>
  );
}

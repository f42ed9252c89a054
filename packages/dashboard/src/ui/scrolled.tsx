import type { ComponentChildren } from "preact";

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

/** Shows the text of a thrown value, with its stack. */
export function Thrown({ children }: { readonly children: string }) {
  return (
    <Scrolled label="What was thrown" class="stack-trace">
      <pre>{children}</pre>
    </Scrolled>
  );
}

/** Shows the messages of an error and of its causes; its stack is folded. */
export function ErrorText({ children }: { readonly children: string }) {
  const lines = children.split("\n");
  const messages = lines.filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  if (messages.length === lines.length) return <div>{children}</div>;
  return (
    <div class="error">
      {messages.map((line, i) => (
        <div key={i}>{line}</div>
      ))}
      <details>
        <summary class="quiet">Stack</summary>
        <Thrown>{children}</Thrown>
      </details>
    </div>
  );
}

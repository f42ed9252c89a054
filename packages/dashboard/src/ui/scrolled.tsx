import type { ComponentChildren } from "preact";

interface ScrolledProps {
  /** Names it to who cannot see it. */
  readonly label: string;
  readonly class: string;
  readonly children: ComponentChildren;
}

/**
 * Makes content that may be too long or too wide to be seen at once scroll by itself, which has to be possible by
 * keyboard.
 */
export function Scrolled({ label, class: className, children }: ScrolledProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class={className} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

/** Shows the text of what was thrown, with its stack. */
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
  const said = lines.filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  if (said.length === lines.length) return <div>{children}</div>;
  return (
    <div class="error">
      {said.map((line, i) => (
        <div key={i}>{line}</div>
      ))}
      <details>
        <summary class="quiet">Stack</summary>
        <Thrown>{children}</Thrown>
      </details>
    </div>
  );
}

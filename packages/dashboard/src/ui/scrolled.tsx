import type { ComponentChildren } from "preact";

interface ScrolledProps {
  /** Names it to who cannot see it. */
  readonly label: string;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** What may be too long or too wide to be seen at once: it scrolls by itself, which has to be possible by keyboard. */
export function Scrolled({ label, class: className, children }: ScrolledProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class={className} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

/** What was thrown, with its stack. */
export function Thrown({ children }: { readonly children: string }) {
  return (
    <Scrolled label="What was thrown" class="stack-trace">
      <pre>{children}</pre>
    </Scrolled>
  );
}

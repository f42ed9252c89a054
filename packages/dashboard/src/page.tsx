import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { TokenForm } from "./token-form.tsx";
import type { Live } from "./use-live.ts";

interface PageProps<Answer> {
  readonly title: string;
  /** What the title is the title of, under it. */
  readonly subtitle?: ComponentChildren;
  /** Whether a link back to the overview stands above it. */
  readonly hasWayBack?: boolean;
  readonly live: Live<Answer>;
  readonly refresh: () => void;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** A page with its heading, whether it is live, and what it shows as soon as the broker has answered. */
export function Page<Answer>({ title, subtitle, hasWayBack, live, refresh, children }: PageProps<Answer>) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Sluice`;
    // Who came by a link hears where they are, and the next Tab is within the page.
    if (hasWayBack) heading.current?.focus();
    scrollTo(0, 0);
  }, [title]);
  const answer = live.kind === "live" || live.kind === "lost" ? live.answer : null;
  return (
    <main>
      {hasWayBack ? (
        <nav aria-label="Way back">
          <a href="#/">← All queues and topics</a>
        </nav>
      ) : null}
      <header>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <LiveState live={live} />
        {subtitle === undefined ? null : <p class="subtitle">{subtitle}</p>}
      </header>
      {live.kind === "tokenNeeded" ? <TokenForm reason={live.reason} done={refresh} /> : null}
      {answer === null ? null : children(answer)}
    </main>
  );
}

function LiveState<Answer>({ live }: { readonly live: Live<Answer> }) {
  switch (live.kind) {
    case "loading":
      return <span role="status">Loading</span>;
    case "live":
      return <span role="status">live</span>;
    case "lost":
      return (
        <span role="status" class="lost">
          {live.reason}
        </span>
      );
    case "tokenNeeded":
      return <span role="status">closed</span>;
  }
}

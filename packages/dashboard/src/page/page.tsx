import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { answerOf, type Live } from "../api/live-query.ts";
import { ClockDialog } from "../development/clock-dialog.tsx";
import { DevelopmentNotices } from "../development/notices.tsx";
import { useDevelopment } from "../development/use-development.tsx";
import { useKeys } from "../ui/keys.ts";
import { Help } from "./help.tsx";
import { Search } from "./search.tsx";
import { TokenForm } from "./token-form.tsx";

interface PageProps<Answer> {
  readonly title: string;
  /** Text under the title that says more exactly what the page shows, such as an ARN. */
  readonly subtitle?: ComponentChildren;
  /** Content beside the title: state and actions. */
  readonly beside?: (answer: Answer) => ComponentChildren;
  /** Whether it is the first page, which has no way back. */
  readonly isFirst?: boolean;
  readonly live: Live<Answer>;
  readonly refresh: () => void;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** A page: its heading, whether it is live, and its content once the broker has answered. */
export function Page<Answer>({
  title,
  subtitle,
  beside,
  isFirst,
  live,
  refresh,
  children,
}: PageProps<Answer>) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [isHelp, setIsHelp] = useState(false);
  const [isClock, setIsClock] = useState(false);
  const { clock, isKnown } = useDevelopment();
  useKeys({ "?": () => setIsHelp(true), o: () => location.assign("#/") });
  // At once: what a reader does next keeps the focus.
  useLayoutEffect(() => {
    document.title = `${title} · Sluice`;
    // After a link a screen reader reads the heading, and the next Tab is within the page.
    if (!isFirst) heading.current?.focus();
    scrollTo(0, 0);
  }, [title]);
  // Actions of development come with the others: none moves away from under the pointer.
  const answer = isKnown ? answerOf(live) : null;
  return (
    <>
      <header class="top">
        <div>
          <a href="#/" class="brand" {...(isFirst ? { "aria-current": "page" as const } : {})}>
            Sluice
          </a>
          <Search />
          <div class="side">
            {clock === null ? null : (
              <button type="button" onClick={() => setIsClock(true)}>
                Clock
              </button>
            )}
            <LiveState live={live} />
            <button type="button" onClick={() => setIsHelp(true)}>
              Help
            </button>
          </div>
        </div>
      </header>
      <main>
        <div class="title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {answer === null ? null : beside?.(answer)}
          {subtitle === undefined ? null : <p>{subtitle}</p>}
        </div>
        {live.kind === "lost" ? (
          <p class="notice bad" role="alert">
            {live.reason}
          </p>
        ) : null}
        {live.kind === "tokenNeeded" ? <TokenForm reason={live.reason} done={refresh} /> : null}
        {answer === null ? null : children(answer)}
        <DevelopmentNotices />
      </main>
      {isClock && clock !== null ? <ClockDialog clock={clock} closed={() => setIsClock(false)} /> : null}
      {isHelp ? <Help closed={() => setIsHelp(false)} /> : null}
    </>
  );
}

const STATES = {
  loading: ["", "Loading"],
  live: ["good", "live"],
  lost: ["bad", "not live"],
  tokenNeeded: ["bad", "closed"],
} as const;

function LiveState<Answer>({ live }: { readonly live: Live<Answer> }) {
  const [tone, text] = STATES[live.kind];
  return (
    <span role="status" class={`live ${tone}`}>
      {text}
    </span>
  );
}

import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { errorText, TokenNeeded } from "./call.ts";
import { FeedContext } from "./use-feed.ts";

/** Shortest time between two questions about the same thing, in ms, unless a page says otherwise. */
const PERIOD_MS_DEFAULT = 1_000;
/** How long a page waits before it asks again after there was no answer, in ms. */
const RETRY_MS = 2_000;

/** State of a query to the broker, with the latest answer. */
export type Live<Answer> =
  | { readonly kind: "loading" }
  | { readonly kind: "live"; readonly answer: Answer }
  /** The last request failed; `answer` is the one before it. */
  | { readonly kind: "lost"; readonly reason: string; readonly answer: Answer | null }
  | { readonly kind: "tokenNeeded"; readonly reason: string };

/** Returns the latest answer; `null` if there is none. */
export function answerOf<Answer>(live: Live<Answer>): Answer | null {
  return "answer" in live ? live.answer : null;
}

/**
 * Asks once, and again at each notice of the feed while the page can be seen.
 *
 * @param key what is asked for.
 * @param periodMs the shortest time between two questions.
 * @returns `refresh` asks at once.
 */
export function useLive<Answer>(
  key: string,
  ask: () => Promise<Answer>,
  periodMs = PERIOD_MS_DEFAULT,
): { readonly live: Live<Answer>; readonly refresh: () => void } {
  const [state, setState] = useState<{ key: string; live: Live<Answer> }>({ key, live: { kind: "loading" } });
  const refresh = useRef(() => {});
  const latest = useRef(ask);
  latest.current = ask;
  const feed = useContext(FeedContext);

  useEffect(() => {
    let isOver = false;
    let asked = 0;
    let endedMs = Number.NEGATIVE_INFINITY;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      clearTimeout(timer);
      timer = undefined;
      const call = ++asked;
      let live: (before: Live<Answer>) => Live<Answer>;
      let isAnswered = true;
      try {
        const answer = await latest.current();
        live = () => ({ kind: "live", answer });
      } catch (error) {
        isAnswered = false;
        const reason = errorText(error);
        live =
          error instanceof TokenNeeded
            ? () => ({ kind: "tokenNeeded", reason })
            : (before) => ({ kind: "lost", reason, answer: answerOf(before) });
      }
      // An answer that a later one has overtaken would turn the page back.
      if (isOver || call !== asked) return;
      endedMs = performance.now();
      setState((before) => ({ key, live: live(before.key === key ? before.live : { kind: "loading" }) }));
      if (!isAnswered) later(RETRY_MS);
    };
    const later = (ms: number) => {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (!document.hidden) void run();
      }, ms);
    };
    refresh.current = () => void run();
    const unsubscribe = feed.subscribe(() => later(Math.max(0, endedMs + periodMs - performance.now())));
    void run();
    return () => {
      isOver = true;
      clearTimeout(timer);
      unsubscribe();
    };
  }, [key, feed]);

  const stable = useCallback(() => refresh.current(), []);
  return { live: state.key === key ? state.live : { kind: "loading" }, refresh: stable };
}

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Refused, TokenNeeded } from "./api.ts";

/** How long a page waits after an answer before it asks again, in ms. */
const PERIOD_MS = 1_000;

/** What is known of something that the broker is asked for again and again. */
export type Live<Answer> =
  | { readonly kind: "loading" }
  | { readonly kind: "live"; readonly answer: Answer }
  /** The last answer was none; `answer` is what was known before. */
  | { readonly kind: "lost"; readonly reason: string; readonly answer: Answer | null }
  | { readonly kind: "tokenNeeded"; readonly reason: string };

/** Asks once a second, while somebody can see the page. `key` says what is asked for; `refresh` asks at once. */
export function useLive<Answer>(
  key: string,
  ask: () => Promise<Answer>,
): { readonly live: Live<Answer>; readonly refresh: () => void } {
  const [state, setState] = useState<{ key: string; live: Live<Answer> }>({ key, live: { kind: "loading" } });
  const refresh = useRef(() => {});
  const latest = useRef(ask);
  latest.current = ask;

  useEffect(() => {
    let isOver = false;
    let asked = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      clearTimeout(timer);
      const call = ++asked;
      let live: (before: Live<Answer>) => Live<Answer>;
      try {
        const answer = await latest.current();
        live = () => ({ kind: "live", answer });
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        const reason = error instanceof Refused || error instanceof TokenNeeded ? text : `No answer: ${text}`;
        live =
          error instanceof TokenNeeded
            ? () => ({ kind: "tokenNeeded", reason })
            : (before) => ({ kind: "lost", reason, answer: "answer" in before ? before.answer : null });
      }
      // An answer that somebody has overtaken would turn the page back.
      if (isOver || call !== asked) return;
      setState((before) => ({ key, live: live(before.key === key ? before.live : { kind: "loading" }) }));
      if (!document.hidden) timer = setTimeout(run, PERIOD_MS);
    };
    const seen = () => {
      if (!document.hidden) void run();
    };
    refresh.current = () => void run();
    document.addEventListener("visibilitychange", seen);
    void run();
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [key]);

  const stable = useCallback(() => refresh.current(), []);
  return { live: state.key === key ? state.live : { kind: "loading" }, refresh: stable };
}

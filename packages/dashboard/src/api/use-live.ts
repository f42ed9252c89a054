import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Live, LiveQuery } from "./live-query.ts";
import { FeedContext } from "./use-feed.ts";

/** Shortest time between two questions about the same thing, in ms, unless a page says otherwise. */
const PERIOD_MS_DEFAULT = 1_000;

/**
 * Asks once, and again at each notice of the feed while the page can be seen.
 *
 * @param key what is asked for.
 * @param periodMs the shortest time between two questions.
 * @returns `refresh` asks at once, after an action; `renew` asks again when it is time.
 */
export function useLive<Answer>(
  key: string,
  ask: () => Promise<Answer>,
  periodMs = PERIOD_MS_DEFAULT,
): { readonly live: Live<Answer>; readonly refresh: () => void; readonly renew: () => void } {
  const [state, setState] = useState<{ key: string; live: Live<Answer> }>({ key, live: { kind: "loading" } });
  const query = useRef<LiveQuery<Answer> | null>(null);
  const latest = useRef(ask);
  latest.current = ask;
  const feed = useContext(FeedContext);

  useEffect(() => {
    const asking = new LiveQuery(
      () => latest.current(),
      (live) => setState({ key, live }),
      periodMs,
      state.key === key ? state.live : undefined,
    );
    query.current = asking;
    const unsubscribe = feed.subscribe(() => asking.renew());
    asking.refresh();
    return () => {
      asking.end();
      unsubscribe();
    };
  }, [key, feed]);

  const stable = useMemo(
    () => ({ refresh: () => query.current?.refresh(), renew: () => query.current?.renew() }),
    [],
  );
  return { live: state.key === key ? state.live : { kind: "loading" }, ...stable };
}

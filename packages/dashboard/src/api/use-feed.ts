import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { type About, Feed, type Notice } from "./feed.ts";

/** The feed of the page that is shown. */
export const FeedContext = createContext<Feed>(new Feed({ kind: "queues" }));

/** One feed for a page, which ends with it. */
export function useFeed(about: About): Feed {
  const [feed, setFeed] = useState(() => new Feed(about));
  const current = isSame(feed.about, about) ? feed : new Feed(about);
  if (current !== feed) setFeed(current);
  useEffect(() => {
    current.open();
    return () => current.close();
  }, [current]);
  return current;
}

/** Calls back with every notice of the page's feed. */
export function useNotices(notified: (notice: Notice) => void): void {
  const feed = useContext(FeedContext);
  useEffect(() => feed.subscribe(notified), [feed]);
}

function isSame(a: About, b: About): boolean {
  return a.kind === b.kind && (a.kind !== "queue" || (b.kind === "queue" && a.name === b.name));
}

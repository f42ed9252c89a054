import { useEffect, useRef, useState } from "preact/hooks";
import { call, type EventView, queuePath } from "../api/call.ts";
import { useNotices } from "../api/use-feed.ts";

/** Events that a page keeps: the newest ones. */
const KEPT_MAX = 200;

export interface QueueEvents {
  /** Newest first. */
  readonly events: readonly EventView[];
  /** Whether the queue keeps a history; `null` until that is known. */
  readonly isOn: boolean | null;
}

/** Follows the events of a queue: first those of the last minutes by its history, and then those of the feed. */
export function useQueueEvents(name: string): QueueEvents {
  const newest = useRef(-1);
  const [known, setKnown] = useState<Pick<QueueEvents, "events" | "isOn">>({ events: [], isOn: null });
  const take = (fresh: readonly EventView[]) => {
    const added = fresh.filter(({ number }) => number !== null && number > newest.current);
    if (added.length === 0) return;
    newest.current = Math.max(newest.current, ...added.map(({ number }) => number ?? -1));
    const sorted = added.sort((a, b) => (b.number ?? 0) - (a.number ?? 0));
    setKnown(({ events, isOn }) => ({ isOn, events: [...sorted, ...events].slice(0, KEPT_MAX) }));
  };
  const ask = async () => {
    const { events, isOn } = await call<{ events: EventView[]; isOn: boolean }>(
      `${queuePath(name)}/history?max=${KEPT_MAX}`,
    );
    take(events);
    setKnown((before) => ({ ...before, isOn }));
  };
  useEffect(() => {
    // The page says elsewhere that the broker does not answer.
    ask().catch(() => {});
  }, [name]);
  useNotices((notice) => {
    if (notice.kind === "ask") {
      ask().catch(() => {});
      return;
    }
    take(notice.frame.events.filter(({ queue }) => queue === name));
  });
  return known;
}

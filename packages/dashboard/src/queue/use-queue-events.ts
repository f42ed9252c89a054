import { useEffect, useState } from "preact/hooks";
import { call, type EventView, queuePath } from "../api/call.ts";
import { useNotices } from "../api/use-feed.ts";

/** Kinds of events that say how a delivery went. */
const OUTCOMES: readonly string[] = ["delivered", "acked", "failed", "retried", "deadLettered", "dropped"];
/** Events that a page keeps: the newest ones. */
const KEPT_MAX = 200;

/** Adds events of deliveries to those known, newest first. Their numbers do not order those of a queue with shards. */
export function withFresh(known: readonly EventView[], fresh: readonly EventView[]): readonly EventView[] {
  const numbers = new Set(known.map(({ number }) => number));
  const added = fresh.filter(
    ({ kind, number }) => OUTCOMES.includes(kind) && number !== null && !numbers.has(number),
  );
  return [...added, ...known]
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || (b.number ?? 0) - (a.number ?? 0))
    .slice(0, KEPT_MAX);
}

export interface QueueEvents {
  /** Those of deliveries, newest first. */
  readonly events: readonly EventView[];
  /** Whether the queue keeps a history; `null` until that is known. */
  readonly isOn: boolean | null;
}

/** Follows the deliveries of a queue: first those of the last minutes by its history, and then those of the feed. */
export function useQueueEvents(name: string): QueueEvents {
  const [known, setKnown] = useState<QueueEvents>({ events: [], isOn: null });
  const take = (fresh: readonly EventView[], isOn?: boolean) =>
    setKnown((before) => ({ isOn: isOn ?? before.isOn, events: withFresh(before.events, fresh) }));
  const ask = async () => {
    const { events, isOn } = await call<{ events: EventView[]; isOn: boolean }>(
      `${queuePath(name)}/history?max=${KEPT_MAX}&kind=${OUTCOMES}`,
    );
    take(events, isOn);
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

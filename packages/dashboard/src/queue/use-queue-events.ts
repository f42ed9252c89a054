import { useEffect, useRef, useState } from "preact/hooks";
import { call, type EventView, type FiguresView, queuePath } from "../api/call.ts";
import { useNotices } from "../api/use-feed.ts";
import { Samples } from "./samples.ts";

/** Events that a page keeps: the newest ones. */
const KEPT_MAX = 200;

export interface QueueEvents {
  /** Newest first. */
  readonly events: readonly EventView[];
  /** Whether the queue keeps a history; `null` until that is known. */
  readonly isOn: boolean | null;
  readonly samples: Samples;
  /** Latest figures of the feed. */
  readonly figures: FiguresView | null;
}

/** Follows the events of a queue: first those of the last minutes by its history, and then those of the feed. */
export function useQueueEvents(name: string): QueueEvents {
  const samples = useRef(new Samples());
  const newest = useRef(-1);
  const [figures, setFigures] = useState<FiguresView | null>(null);
  const [known, setKnown] = useState<Pick<QueueEvents, "events" | "isOn">>({ events: [], isOn: null });
  /** @param isCounted whether they count for the chart: those of the feed count by the queue's totals. */
  const take = (fresh: readonly EventView[], isCounted: boolean) => {
    const added = fresh.filter(({ number }) => number !== null && number > newest.current);
    if (added.length === 0) return;
    for (const event of added) {
      newest.current = Math.max(newest.current, event.number ?? -1);
      if (isCounted) samples.current.addEvent(event);
      samples.current.addDuration(event);
    }
    const sorted = added.sort((a, b) => (b.number ?? 0) - (a.number ?? 0));
    setKnown(({ events, isOn }) => ({ isOn, events: [...sorted, ...events].slice(0, KEPT_MAX) }));
  };
  const ask = async () => {
    const { events, isOn } = await call<{ events: EventView[]; isOn: boolean }>(
      `${queuePath(name)}/history?max=${KEPT_MAX}`,
    );
    const oldest = events.at(-1);
    if (oldest !== undefined && newest.current < 0) samples.current.knowsSince(Date.parse(oldest.at));
    take(events, true);
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
    const { queues, events, isSnapshot } = notice.frame;
    const reported = queues.find((queue) => queue.name === name);
    if (isSnapshot) samples.current.forgetTotals();
    if (reported !== undefined) {
      samples.current.addFigures(reported);
      setFigures(reported);
    }
    take(
      events.filter(({ queue }) => queue === name),
      false,
    );
  });
  return { ...known, samples: samples.current, figures };
}

import { useEffect, useRef, useState } from "preact/hooks";
import { call, type EventView, type FrameView, queuePath } from "../api/call.ts";
import { useNotices } from "../api/use-feed.ts";

/** Kinds of events that say how a delivery went. */
const OUTCOMES: readonly string[] = ["delivered", "acked", "failed", "retried", "deadLettered", "dropped"];
/** Events that a page keeps: the newest ones. */
const KEPT_MAX = 200;
/** Wait before the history is asked for events that frames lack, in ms: one event can merge those of a second. */
const ASK_AGAIN_MS = 1_000;

export interface QueueEvents {
  /** Those of deliveries, newest first. */
  readonly events: readonly EventView[];
  /** Whether the queue keeps a history; `null` until that is known. */
  readonly isOn: boolean | null;
}

/**
 * Adds events of deliveries to those known, newest first. An event that is known is replaced: it grows while others are
 * merged into it. Sorted by time: with shards, numbers of events say nothing about their order.
 */
export function withFresh(known: readonly EventView[], fresh: readonly EventView[]): readonly EventView[] {
  const byNumber = new Map(known.map((event) => [event.number, event]));
  for (const event of fresh) {
    if (OUTCOMES.includes(event.kind) && event.number !== null) byNumber.set(event.number, event);
  }
  return [...byNumber.values()]
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || (b.number ?? 0) - (a.number ?? 0))
    .slice(0, KEPT_MAX);
}

/** Adds what a frame of the feed says of a queue. */
export function withFrame(known: QueueEvents, name: string, frame: FrameView): QueueEvents {
  const figures = frame.queues.find((queue) => queue.name === name);
  return { isOn: figures?.isOn ?? known.isOn, events: withFresh(known.events, eventsOf(name, frame)) };
}

/** Whether the history has more than a frame: events that the frame leaves out, or one that grows after it was sent. */
export function isPartial(name: string, frame: FrameView): boolean {
  return frame.isGap || eventsOf(name, frame).some(({ merged }) => merged !== null);
}

function eventsOf(name: string, { events }: FrameView): readonly EventView[] {
  return events.filter(({ queue }) => queue === name);
}

/** Follows the deliveries of a queue: first the newest 200 of its history, however old, and then those of the feed. */
export function useQueueEvents(name: string): QueueEvents {
  const [known, setKnown] = useState<QueueEvents>({ events: [], isOn: null });
  const askingAgain = useRef<ReturnType<typeof setTimeout> | null>(null);
  const askHistory = async () => {
    const { events, isOn } = await call<{ events: EventView[]; isOn: boolean }>(
      `${queuePath(name)}/history?max=${KEPT_MAX}&kind=${OUTCOMES.join(",")}`,
    );
    setKnown((before) => ({ isOn, events: withFresh(before.events, events) }));
  };
  // The page says elsewhere that the broker does not answer.
  const ask = () => void askHistory().catch(() => {});
  // The page has the queue's name as its key: it is the same for as long as this one is shown.
  useEffect(() => {
    ask();
    return () => clearTimeout(askingAgain.current ?? undefined);
  }, []);
  useNotices((notice) => {
    if (notice.kind === "ask") return ask();
    setKnown((before) => withFrame(before, name, notice.frame));
    if (!isPartial(name, notice.frame)) return;
    askingAgain.current ??= setTimeout(() => {
      askingAgain.current = null;
      ask();
    }, ASK_AGAIN_MS);
  });
  return known;
}

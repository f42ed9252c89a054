import { useRef, useState } from "preact/hooks";
import type { QueueView } from "../api/call.ts";
import { useNotices } from "../api/use-feed.ts";
import type { Found } from "./use-messages.ts";

/** Figures of a queue at a moment. */
export interface Moment {
  /** Messages that it holds. */
  readonly held: number;
  /** Messages that have come into it since its object is awake; `null` if that is not known. */
  readonly came: number | null;
}

/**
 * Counts the messages that came into a queue after a list of it was read.
 *
 * @param of messages that it held when the list was read; `Infinity` if that is not known.
 * @param first the first moment after that.
 * @param latest the moment until which messages are counted.
 */
export function arrivalsSince(of: number, first: Moment, latest: Moment): number {
  // The count begins anew with the object, and stands still without a history.
  const came = first.came === null || latest.came === null ? 0 : latest.came - first.came;
  return Math.max(0, first.held - of) + Math.max(0, latest.held - first.held, came);
}

/** Number of messages that came into a queue since a list of it was read. */
export function useArrivals({ name, now, messages }: QueueView, found: Found): number {
  const [came, setCame] = useState<number | null>(null);
  const read = useRef<{ readonly found: Found; readonly first: Moment } | null>(null);
  useNotices((notice) => {
    if (notice.kind !== "frame") return;
    const totals = notice.frame.queues.find((queue) => queue.name === name)?.totals;
    if (totals !== undefined) setCame((totals.accepted ?? 0) + (totals.arrived ?? 0));
  });
  // Messages that came are in no list of finished ones.
  if (found.messages[0]?.end !== undefined) return 0;
  // Until then it is unknown whether the list has the messages that came.
  if (found.isBusy || found.now === undefined || now < found.now) return 0;
  const latest = { held: messages.ready + messages.delayed + messages.leased, came };
  if (read.current?.found !== found) read.current = { found, first: latest };
  // A list of some messages does not say how many the queue held.
  const of = found.filter === "" ? found.of : Number.POSITIVE_INFINITY;
  return arrivalsSince(of, read.current.first, latest);
}

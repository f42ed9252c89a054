import { useEffect } from "preact/hooks";
import type { QueueView } from "../api/call.ts";
import { useArrivals } from "./arrivals.ts";
import { rememberOrder } from "./list-order.ts";
import type { Found } from "./use-messages.ts";

/**
 * Keeps a list of messages as it was read: its rows stay where they are while messages come. An empty list has no rows
 * that could move, and is read again.
 *
 * @returns how many messages came since it was read.
 */
export function useReading(queue: QueueView, found: Found, lookAgain: () => void): number {
  const { messages, isBusy, filter, problem, failure } = found;
  const arrivals = useArrivals(queue, found);
  const isEmpty = messages.length === 0 && !isBusy && filter + problem + failure === "";
  const isOvertaken = isEmpty && arrivals > 0;
  useEffect(() => rememberOrder(queue.name, messages), [queue.name, messages]);
  useEffect(() => {
    if (isOvertaken) lookAgain();
  }, [isOvertaken]);
  return arrivals;
}

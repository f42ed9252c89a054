import type { Slice } from "@sluice/engine";
import { countOf, type NotedEvent, positionsOf } from "../history/event.ts";
import type { QueueContext } from "../turn/context.ts";

/** Stretches of messages of one event, so that its row stays small. */
const SLICES_PER_EVENT_MAX = 200;

/** Within a turn: notes what happened to messages whose bytes are not looked at for it. */
export function noteSlices(
  { history }: Pick<QueueContext, "history">,
  kind: "retried" | "expired",
  slices: readonly Slice[],
  more: Pick<NotedEvent, "error" | "delay"> = {},
): void {
  if (!history.isOn) return;
  for (let from = 0; from < slices.length; from += SLICES_PER_EVENT_MAX) {
    const part = slices.slice(from, from + SLICES_PER_EVENT_MAX);
    history.record({ kind, count: countOf(part), at: positionsOf(part), ...more });
  }
}

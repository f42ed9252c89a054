import type { QueueDefinition } from "@sluice/protocol";
import type { QueueContext } from "../turn/context.ts";

/** Whether delivery is paused by a definition. */
export function isPaused(definition: QueueDefinition | undefined): boolean {
  return definition?.deliveryPaused ?? false;
}

/** Within a turn: notes that delivery was paused or resumed, if it was otherwise before. */
export function notePause(
  { history, definition }: Pick<QueueContext, "history" | "definition">,
  wasPaused: boolean,
): void {
  const isNow = isPaused(definition);
  if (isNow !== wasPaused) history.record({ kind: isNow ? "paused" : "resumed", count: 0 });
}

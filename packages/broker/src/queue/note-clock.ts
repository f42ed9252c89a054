import type { QueueContext } from "../turn/context.ts";

/** Smallest move of a clock that is noted, in ms: a running one goes on by itself while it is set. */
export const CLOCK_MOVED_MS_MIN = 10;

/** Within a turn: notes that the clock of the queue was moved forward, in development. */
export function noteClockMoved({ history }: Pick<QueueContext, "history">, movedMs: number): void {
  if (movedMs >= CLOCK_MOVED_MS_MIN) history.record({ kind: "clockMoved", count: 0, delayMs: movedMs });
}

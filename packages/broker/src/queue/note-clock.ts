import { CLOCK_MOVED_MS_MIN } from "../history/figures/bucket.ts";
import type { QueueContext } from "../turn/context.ts";

/** Within a turn: notes that the clock of the queue was moved forward, in development. */
export function noteClockMoved({ history }: Pick<QueueContext, "history">, movedMs: number): void {
  if (movedMs >= CLOCK_MOVED_MS_MIN) history.record({ kind: "clockMoved", count: 0, delayMs: movedMs });
}

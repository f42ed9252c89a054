import type { HistoryEvent } from "@sluice/protocol";
import type { StoredEvent } from "../journal/event.ts";

/**
 * Finds out how long delivery was paused between two events, and by how much the clock was moved. A move in a pause
 * counts as a move alone.
 *
 * @param ofQueue events of the queue, oldest first.
 */
export function waitsOf(
  before: StoredEvent | undefined,
  after: StoredEvent,
  ofQueue: readonly StoredEvent[],
): Pick<HistoryEvent, "pausedMs" | "movedMs"> {
  if (before === undefined) return {};
  let [pausedMs, movedMs] = [0, 0];
  // A queue that is resumed first was paused before its history begins.
  let pausedSinceMs = -Infinity;
  const addPause = (untilMs: number) => {
    pausedMs += Math.max(0, Math.min(untilMs, after.t) - Math.max(pausedSinceMs, before.t));
    pausedSinceMs = Infinity;
  };
  let isPaused = ofQueue.find(isPause)?.kind === "resumed";
  for (const { kind, n, t, delayMs = 0 } of ofQueue) {
    if (kind === "paused" && !isPaused) pausedSinceMs = t;
    if (kind === "resumed" && isPaused) addPause(t);
    if (isPause({ kind })) isPaused = kind === "paused";
    if (kind !== "clockMoved" || n < before.n || n > after.n) continue;
    movedMs += delayMs;
    if (isPaused) pausedMs -= delayMs;
  }
  if (isPaused) addPause(after.t);
  return { ...(pausedMs <= 0 ? {} : { pausedMs }), ...(movedMs === 0 ? {} : { movedMs }) };
}

function isPause({ kind }: Pick<StoredEvent, "kind">): boolean {
  return kind === "paused" || kind === "resumed";
}

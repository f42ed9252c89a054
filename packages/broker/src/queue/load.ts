import { type Queue, restoreSegment } from "@sluice/engine";
import type { QueueStore, StoredSegment } from "../store/store.ts";
import type { DamageLog } from "../turn/damage-log.ts";

/**
 * Puts what an earlier epoch stored back into the queue. Damage is reported and does not keep the rest from being
 * delivered.
 *
 * @returns the segments that have a row in `segment_states`.
 */
export function loadSegments(queue: Queue, store: QueueStore, damage: DamageLog, nowMs: number): Set<number> {
  const withState = new Set<number>();
  for (const segment of store.segments()) {
    const { id, state } = segment;
    const failure = tryRestore(queue, segment, nowMs);
    if (failure === null) {
      if (state !== null) withState.add(id);
    } else if (state !== null && tryRestore(queue, { ...segment, state: null }, nowMs) === null) {
      // Without its state it is still known what was sent: better delivered twice than never.
      withState.add(id);
      damage.note(
        "messagesAgain",
        0,
        `what happened to the messages of segment ${id} is damaged, all of them are delivered again: ${failure}`,
      );
    } else {
      // Its row stays in the store for examination.
      damage.note(
        "messagesLost",
        null,
        `segment ${id} is damaged and left out, its messages are lost: ${failure}`,
      );
    }
  }
  return withState;
}

/** Restores a segment. Returns `null`, or the error, after which the queue is as it was before. */
function tryRestore(queue: Queue, { id, index, state }: StoredSegment, nowMs: number): unknown {
  try {
    restoreSegment(queue, id, index, state, nowMs);
    return null;
  } catch (error) {
    return error;
  }
}

import { encodeIndex, encodeState, type Queue, takeChanges } from "@sluice/engine";
import type { PayloadCache } from "../store/payload-cache.ts";
import type { QueueStore } from "../store/store.ts";

/**
 * Writes what the engine changed: one row per new segment, one per segment whose messages were touched, one delete per
 * finished one.
 *
 * @param withState Segments that have a row in `segment_states`; kept up to date.
 */
export function writeChanges(
  queue: Queue,
  store: QueueStore,
  cache: PayloadCache,
  withState: Set<number>,
): void {
  for (const [id, change] of takeChanges(queue)) {
    const segment = queue.segments.get(id);
    if (change === "gone" || segment === undefined) {
      store.deleteSegment(id, withState.delete(id));
      cache.delete(id);
      continue;
    }
    const state = encodeState(segment);
    if (change === "created") {
      store.insertSegment(id, encodeIndex(segment), state, payloadBytes(cache, id));
      continue;
    }
    if (change !== "touched") store.replaceSegment(id, encodeIndex(segment), payloadBytes(cache, id));
    if (change === "appended" || state === null) continue;
    store.writeState(id, state);
    withState.add(id);
  }
}

function payloadBytes(cache: PayloadCache, id: number): Uint8Array {
  const payload = cache.written(id);
  // The turn that stored the messages put it there and trims the cache only after its commit.
  if (payload === undefined)
    throw new Error(`the payload of segment ${id} was dropped before it was written`);
  return payload.packed;
}

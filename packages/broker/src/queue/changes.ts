import { encodeIndex, encodeState, type Queue, type Segment, takeChanges } from "@sluice/engine";
import type { PayloadCache } from "../store/payload-cache.ts";
import type { QueueStore } from "../store/store.ts";

/**
 * Most bytes and messages of a small segment: the state of its messages goes into its own row. The payload is written
 * again, but it is less than a page of the file; a row apart is billed when it is written and once more when it is
 * deleted.
 */
const SMALL_BYTES_MAX = 4_000;
const SMALL_MESSAGES_MAX = 20;

/**
 * Writes what the engine changed: one row per new segment, one per segment whose messages were touched, one delete per
 * finished one. A small segment takes one row for each commit that it has a part in.
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
    if (!withState.has(id) && isSmall(segment)) {
      if (change !== "touched")
        store.replaceSegment(id, encodeIndex(segment), payloadBytes(cache, id), state);
      else if (state !== null) store.writeOwnState(id, state);
      continue;
    }
    if (change !== "touched") store.replaceSegment(id, encodeIndex(segment), payloadBytes(cache, id));
    if (change === "appended" || state === null) continue;
    store.writeState(id, state);
    withState.add(id);
  }
}

function isSmall(segment: Segment): boolean {
  return segment.count <= SMALL_MESSAGES_MAX && segment.bytes(0, segment.count) <= SMALL_BYTES_MAX;
}

function payloadBytes(cache: PayloadCache, id: number): Uint8Array {
  const payload = cache.written(id);
  // The turn that stored the messages put it there and trims the cache only after its commit.
  if (payload === undefined)
    throw new Error(`the payload of segment ${id} was dropped before it was written`);
  return payload.packed;
}

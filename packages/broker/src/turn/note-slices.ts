import type { Slice } from "@sluice/engine";
import { isReadable, type PackedIndex } from "@sluice/protocol";
import { countOf, type NotedEvent, positionsOf } from "../history/journal/event.ts";
import type { QueueContext } from "./context.ts";

/** Stretches of messages of one event without ids, so that its row stays small. */
const SLICES_PER_EVENT_MAX = 200;
/** Most messages of one event with ids. */
const NAMED_PER_EVENT_MAX = 100;
/** Most messages whose ids are noted at once, and bytes of records that are read for them: the others go unnamed. */
export const NAMED_MAX = 1_000;
export const NAMED_BYTES_MAX = 4_000_000;

type Range = Pick<Slice, "segmentId" | "from" | "to">;

type NotingContext = Pick<QueueContext, "history" | "payloadOf">;

/** Ranges of one event, with the ids of their messages joined; without ids for those that go unnamed. */
interface Part {
  readonly ranges: Range[];
  ids: string;
}

/** Within a turn: notes what happened to messages without reading all of them: it names the ids of the first ones. */
export function noteSlices(
  { history, payloadOf }: NotingContext,
  kind: "retried" | "expired",
  slices: readonly Range[],
  more: Pick<NotedEvent, "error" | "delay" | "by" | "delayMs"> = {},
): void {
  if (!history.isOn) return;
  const { named, unnamed } = partsOf(payloadOf, slices);
  for (const { ranges, ids } of named)
    history.record({ kind, count: countOf(ranges), at: positionsOf(ranges), ids, ...more });
  for (let from = 0; from < unnamed.length; from += SLICES_PER_EVENT_MAX) {
    const part = unnamed.slice(from, from + SLICES_PER_EVENT_MAX);
    history.record({ kind, count: countOf(part), at: positionsOf(part), ...more });
  }
}

function partsOf(payloadOf: QueueContext["payloadOf"], slices: readonly Range[]) {
  const named: Part[] = [];
  const unnamed: Range[] = [];
  let messages = 0;
  let bytes = 0;
  let segment = null as { readonly id: number; readonly payload: PackedIndex | null } | null;
  for (const { segmentId, from, to } of slices) {
    let at = from;
    while (at < to && messages < NAMED_MAX && bytes < NAMED_BYTES_MAX) {
      if (segment?.id !== segmentId) {
        segment = { id: segmentId, payload: recordsOf(payloadOf, segmentId) };
        bytes += segment.payload?.packed.byteLength ?? 0;
      }
      let part = named.at(-1);
      if (part === undefined || countOf(part.ranges) >= NAMED_PER_EVENT_MAX) {
        part = { ranges: [], ids: "" };
        named.push(part);
      }
      const room = Math.min(NAMED_PER_EVENT_MAX - countOf(part.ranges), NAMED_MAX - messages);
      const range = { segmentId, from: at, to: Math.min(to, at + room) };
      const ids = idsIn(segment.payload, range);
      // A range that cannot be read has no ids: within an event with ids, places and ids would not match.
      if (ids === null) unnamed.push(range);
      else {
        part.ranges.push(range);
        part.ids += ids;
      }
      messages += range.to - at;
      at = range.to;
    }
    if (at < to) unnamed.push({ segmentId, from: at, to });
  }
  return { named: named.filter(({ ids }) => ids !== ""), unnamed };
}

function recordsOf(payloadOf: QueueContext["payloadOf"], segmentId: number): PackedIndex | null {
  try {
    return payloadOf(segmentId);
  } catch {
    // Damage is reported when a message is delivered.
    return null;
  }
}

/** Joins the ids of a range; `null` if not all of it can be read. */
function idsIn(payload: PackedIndex | null, { from, to }: Range): string | null {
  let ids = "";
  for (let i = from; i < to; i++) {
    if (payload === null || !isReadable(payload, i)) return null;
    ids += payload.id(i);
  }
  return ids;
}

import {
  DELIVERY_BYTES_MAX,
  type MessagePosition,
  peek as peekAt,
  removeMessage,
  type Slice,
} from "@sluice/engine";
import { isReadable, type PeekedBatch, PULL_MESSAGES_MAX, type RefsDeleted } from "@sluice/protocol";
import { positionsOfEach } from "../history/journal/event.ts";
import { readableRanges } from "../store/readable.ts";
import type { QueueContext } from "../turn/context.ts";
import { joinOwned } from "../turn/lease-records.ts";
import { decodeToken, encodeToken } from "./message-token.ts";
import { checkRange, positionsIn } from "./pull.ts";

/**
 * Within a turn: lists the first waiting messages (spec cloudflare-queues 5.2). Messages that cannot be read are left
 * out; their loss is reported when they are delivered.
 *
 * @throws RangeError for a `max` that the edge should have refused.
 */
export function peek(context: QueueContext, max: number): PeekedBatch {
  checkRange("max", max, 1, PULL_MESSAGES_MAX);
  context.passTime();
  const parts: Uint8Array[] = [];
  const slices: Slice[] = [];
  for (const slice of peekAt(context.queue, max, DELIVERY_BYTES_MAX)) {
    for (const readable of readableSlices(context, slice)) {
      parts.push(context.payloadOf(slice.segmentId).records(readable.from, readable.to));
      slices.push(readable);
    }
  }
  return {
    packed: joinOwned(parts),
    attempts: slices.flatMap(({ from, to, attempts }) => Array<number>(to - from).fill(attempts)),
    refs: slices.flatMap((slice) => positionsIn(slice, 0)).map((at) => encodeToken(context.name, "ref", at)),
  };
}

/** Most messages of one event of the history, so that its row stays small. */
export const DELETED_PER_EVENT_MAX = 100;

/** Within a turn: deletes messages, leased ones too, by their refs of `peek` (spec cloudflare-queues 5.2). */
export function deleteByRefs(context: QueueContext, refs: readonly string[]): RefsDeleted {
  const { queue, name, history } = context;
  const warnings: [ref: string, text: string][] = [];
  const deleted: MessagePosition[] = [];
  for (const ref of refs) {
    const position = decodeToken(name, "ref", ref);
    if (position === null) warnings.push([ref, "This is not a ref of this queue."]);
    else if (removeMessage(queue, position, (slice) => history.finished.note("deleted", slice)))
      deleted.push(position);
    else warnings.push([ref, "The message is not in the queue any more."]);
  }
  noteDeleted(context, deleted);
  return { deleted: deleted.length, warnings };
}

/**
 * Notes deleted messages, with their ids as far as they can be read: where a send was merged no other event has them.
 */
function noteDeleted(context: QueueContext, deleted: readonly MessagePosition[]): void {
  const { history } = context;
  if (!history.isOn) return;
  const known = deleted.map((position) => ({ ...position, id: idAt(context, position) }));
  // Ids are in the order of the positions, so those without one come last.
  known.sort((a, b) => b.id.length - a.id.length);
  for (let from = 0; from < known.length; from += DELETED_PER_EVENT_MAX) {
    const part = known.slice(from, from + DELETED_PER_EVENT_MAX);
    const at = positionsOfEach(part);
    const ids = part.map(({ id }) => id).join("");
    history.record({ kind: "deleted", count: part.length, at, ids });
  }
}

/** Reads the id of a message; "" for one that cannot be read. */
function idAt({ payloadOf }: QueueContext, { segmentId, index }: MessagePosition): string {
  try {
    const payload = payloadOf(segmentId);
    return isReadable(payload, index) ? payload.id(index) : "";
  } catch {
    return "";
  }
}

function readableSlices(context: QueueContext, slice: Slice): Slice[] {
  try {
    const ranges = readableRanges(context.payloadOf(slice.segmentId), slice.from, slice.to);
    return ranges.map((range) => ({ ...slice, ...range }));
  } catch {
    return [];
  }
}

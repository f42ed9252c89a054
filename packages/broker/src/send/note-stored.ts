import type { Placement } from "@sluice/engine";
import { type MessagePast, type PackedIndex, traceParentIn } from "@sluice/protocol";
import { NO_TRACE, type NotedEvent } from "../history/journal/event.ts";
import { pastIn } from "../history/past.ts";
import type { QueueContext } from "../turn/context.ts";
import type { AcceptedBatch } from "./accepted-batch.ts";

/** Most messages of one event, so that its row stays small. */
const MESSAGES_PER_EVENT_MAX = 100;

/** Range of messages of one batch with one delay, in the order in which they lie. */
interface AlikeRange {
  readonly batch: AcceptedBatch;
  /** Index of the first message in its batch, and in its segment. */
  readonly first: number;
  readonly at: number;
  count: number;
  readonly ownDelaySeconds: number | undefined;
}

/** Within a turn: notes in the history that messages were accepted, or arrived from another queue. */
export function noteStored(
  context: QueueContext,
  group: readonly AcceptedBatch[],
  placement: Placement,
): void {
  const { history } = context;
  if (!history.isOn) return;
  for (const alike of alikeRangesOf(group, placement)) {
    const { batch, at, count } = alike;
    const { by = null, from } = batch;
    history.stored(batch.index, alike.first, count);
    const positions = [placement.segmentId, at, at + count];
    if (from === undefined) {
      history.quiet({ kind: "accepted", by, count, at: positions }, () => detailOf(alike));
    } else {
      const pasts = pastsOf(alike);
      const detail = { ...detailOf(alike), ...(pasts.some((past) => past !== null) ? { pasts } : {}) };
      history.record({ kind: "arrived", by: from, count, at: positions, ...detail });
    }
  }
}

function detailOf({ batch, first, count, ownDelaySeconds }: AlikeRange): Partial<NotedEvent> {
  const { index, delaySeconds, delayReason = "queue" } = batch;
  let ids = "";
  for (let i = first; i < first + count; i++) ids += index.id(i);
  const named = { ids, ...tracesOf(index, first, count) };
  const seconds = ownDelaySeconds ?? delaySeconds;
  if (seconds === 0) return named;
  const delay = ownDelaySeconds === undefined ? delayReason : "message";
  return { ...named, delayMs: 1_000 * seconds, delay };
}

function tracesOf(index: PackedIndex, first: number, count: number): Pick<NotedEvent, "traces"> {
  let hasAny = false;
  let traces = "";
  for (let i = first; i < first + count; i++) {
    const trace = index.hasExtension(i) ? traceParentIn(index.extension(i).trace) : null;
    hasAny ||= trace !== null;
    traces += trace?.traceId ?? NO_TRACE;
  }
  return hasAny ? { traces } : {};
}

function pastsOf({ batch: { index }, first, count }: AlikeRange): (MessagePast | null)[] {
  return Array.from({ length: count }, (_, i) =>
    index.hasExtension(first + i) ? pastIn(index.extension(first + i)) : null,
  );
}

function alikeRangesOf(group: readonly AcceptedBatch[], { from, order }: Placement): AlikeRange[] {
  const places = order === null ? null : inverse(order);
  const found: AlikeRange[] = [];
  let position = 0;
  for (const batch of group) {
    const { index } = batch;
    for (let i = 0; i < index.count; i++, position++) {
      const ownDelaySeconds = index.delaySeconds(i);
      const at = from + (places?.[position] ?? position);
      const last = found.at(-1);
      const isNext =
        last?.batch === batch &&
        last.ownDelaySeconds === ownDelaySeconds &&
        last.at + last.count === at &&
        last.count < MESSAGES_PER_EVENT_MAX;
      if (isNext) last.count += 1;
      else found.push({ batch, first: i, at, count: 1, ownDelaySeconds });
    }
  }
  return found;
}

function inverse(order: readonly number[]): number[] {
  const places: number[] = [];
  for (const [place, position] of order.entries()) places[position] = place;
  return places;
}

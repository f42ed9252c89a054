import type { MessagePosition } from "@sluice/engine";
import {
  changeRecord,
  isAmong,
  type MessageExtension,
  type NewMove,
  type PackedIndex,
} from "@sluice/protocol";
import { positionsOfEach } from "../history/journal/event.ts";
import { withEnd } from "../history/past.ts";
import type { QueueContext } from "../turn/context.ts";
import { checkReadable } from "../turn/lease-records.ts";

/** Most messages of one event of the history, so that its row stays small. */
const MOVED_PER_EVENT_MAX = 100;

/** Message that leaves this queue for another one. */
export interface Moving extends MessagePosition {
  readonly target: string;
}

/** Destinations of messages. */
export interface Destinations {
  readonly moving: readonly Moving[];
  /** Messages that the task may not send to their destination. */
  readonly staying: ReadonlySet<MessagePosition>;
}

/** Finds the destination of each readable message; `null` if one has none. The others are reported as lost. */
export function destinationsOf(
  context: QueueContext,
  positions: readonly MessagePosition[],
  { target, fallback, mayReach }: NewMove,
): Destinations | null {
  const moving: Moving[] = [];
  const staying = new Set<MessagePosition>();
  for (const position of positions) {
    const { segmentId, index } = position;
    if (!checkReadable(context, segmentId, index)) continue;
    const { deadLetterSource, deadLetterOf } = context.payloadOf(segmentId).extension(index);
    const goesTo = target ?? deadLetterSource ?? deadLetterOf ?? fallback;
    if (goesTo === undefined) return null;
    if (mayReach === undefined || isAmong(mayReach, goesTo))
      moving.push({ segmentId, index, target: goesTo });
    else staying.add(position);
  }
  return { moving, staying };
}

/**
 * Makes the records of messages for their new queue, where they are new: with another id, sent now, never received
 * (spec sqs 6.2). Notes in the history that they have left.
 */
export function depart(context: QueueContext, target: string, leaving: readonly Moving[]): Uint8Array[] {
  const newIds = leaving.map(() => context.newMessageId());
  const records = leaving.map(({ segmentId, index }, i) => {
    const payload = context.payloadOf(segmentId);
    const { deadLetterSource, deadLetterOf, ...extension } = payload.extension(index);
    return changeRecord(payload, index, {
      id: newIds[i] as string, // one for each that leaves
      timestampMs: 0,
      earlierReceives: 0,
      extension: withPast(context, extension, payload, index),
    });
  });
  note(context, target, leaving, newIds);
  return records;
}

function withPast(
  { history, queueName: queue, nowMs }: QueueContext,
  extension: MessageExtension,
  payload: PackedIndex,
  index: number,
): MessageExtension {
  if (!history.isOn) return extension;
  const id = payload.id(index);
  const first = { queue, id, sentMs: payload.timestampMs(index), by: null };
  const end = { queue, id, kind: "redriven", atMs: nowMs, attempts: 0, error: null } as const;
  return withEnd(extension, first, end);
}

function note(
  { history, payloadOf }: QueueContext,
  target: string,
  leaving: readonly Moving[],
  newIds: readonly string[],
): void {
  if (!history.isOn) return;
  for (let from = 0; from < leaving.length; from += MOVED_PER_EVENT_MAX) {
    const part = leaving.slice(from, from + MOVED_PER_EVENT_MAX);
    history.record({
      kind: "redriven",
      to: target,
      count: part.length,
      at: positionsOfEach(part),
      ids: part.map(({ segmentId, index }) => payloadOf(segmentId).id(index)).join(""),
      otherIds: newIds.slice(from, from + MOVED_PER_EVENT_MAX).join(""),
    });
  }
}

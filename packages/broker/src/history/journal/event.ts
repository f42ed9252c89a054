import type { DelayReason, HistoryKind, MessagePast, PrintedLogs } from "@sluice/protocol";
import { errorLine } from "@sluice/protocol/stack";

/** Ranges of messages, each as three numbers one after the other: segment, from, to (exclusive). */
export type Positions = readonly number[];

/** Range of messages of one segment, as the engine names it. */
interface Range {
  readonly segmentId: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Event as it is stored: JSON in a row of the journal.
 *
 * A contract, since stored data depends on it: members keep their meaning. An absent one is unknown or does not apply.
 */
export interface StoredEvent {
  /** Number, which grows with every event. */
  readonly n: number;
  readonly kind: HistoryKind;
  /** Time in ms; that of the first event where several are merged. */
  readonly t: number;
  /** Number of messages. */
  readonly count: number;
  readonly at?: Positions;
  /** Ids of the messages, in the order of `at`: 32 digits each. */
  readonly ids?: string;
  readonly by?: string;
  readonly to?: string;
  /** Ids of the messages in the queue that they went to. */
  readonly otherIds?: string;
  readonly batch?: number;
  /** Deliveries so far, this one included, of the first message. */
  readonly attempt?: number;
  /** The same for each range of `at`, where there are several. */
  readonly attempts?: readonly number[];
  readonly delayMs?: number;
  readonly delay?: DelayReason;
  /** Beginning of an error, or a reason. */
  readonly error?: string;
  /** Hash of the whole text of the error (`ErrorTexts`), where `error` is only its beginning. */
  readonly errorHash?: number;
  readonly tookMs?: number;
  readonly merged?: StoredMerge;
  /** Pasts of the messages in earlier queues, in the order of `ids`. */
  readonly pasts?: readonly (MessagePast | null)[];
  readonly logs?: PrintedLogs;
  /** Trace ids of the messages, in the order of `ids`: 32 digits each, zeros for none. Absent if none has one. */
  readonly traces?: string;
}

/** Merge of events of one kind, peer and second. `at` also covers messages between them that had no such event. */
export interface StoredMerge {
  readonly untilMs: number;
  readonly events: number;
  readonly tookMs?: readonly number[];
}

/** Event before it has a number, a time and the hash of its error. */
export type NotedEvent = Omit<StoredEvent, "n" | "t" | "errorHash">;

/** Digits of a message id. */
export const ID_LENGTH = 32;
/** Units of an error that are stored in its event. The whole text is stored once for all events that share it. */
export const ERROR_BEGINNING_MAX = 200;

/** Mark behind what was cut. */
const CUT = "…";

/** Place at the end of an error's line. */
const LINE_PLACE = /^(.*?)( \([^()\s]{1,100}:\d+:\d+\))$/;

/** Makes the beginning of an error that is stored of it: its first line, with its place in the user's code. */
export function beginningOf(error: string): string {
  const line = errorLine(error);
  if (line.length <= ERROR_BEGINNING_MAX) return line;
  const [, head = line, place = ""] = LINE_PLACE.exec(line) ?? [];
  return `${head.slice(0, ERROR_BEGINNING_MAX - place.length - CUT.length)}${CUT}${place}`;
}

export function positionsOf(ranges: readonly Range[]): number[] {
  return ranges.flatMap(({ segmentId, from, to }) => [segmentId, from, to]);
}

/** Makes the ranges of single messages. */
export function positionsOfEach(
  messages: readonly { readonly segmentId: number; readonly index: number }[],
): number[] {
  return messages.flatMap(({ segmentId, index }) => [segmentId, index, index + 1]);
}

export function countOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** The trace id of a message without a trace context, among those of others. */
export const NO_TRACE = "0".repeat(ID_LENGTH);

/** Splits a text of joined ids. */
export function idsIn(joined: string): string[] {
  return Array.from({ length: joined.length / ID_LENGTH }, (_, i) =>
    joined.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH),
  );
}

/** Makes the attempts of an event, by the ranges of its `at`. */
export function attemptsIn(
  slices: readonly { readonly attempts: number }[],
): Pick<NotedEvent, "attempt" | "attempts"> {
  const attempt = slices[0]?.attempts ?? 1;
  return slices.length < 2 ? { attempt } : { attempt, attempts: slices.map(({ attempts }) => attempts) };
}

/** Finds the range of an event's `at` that holds the message at a position; -1 if none does. */
export function rangeOf({ at = [] }: StoredEvent, segmentId: number, index: number): number {
  for (let i = 0; i < at.length; i += 3) {
    if (at[i] === segmentId && index >= (at[i + 1] ?? 0) && index < (at[i + 2] ?? 0)) return i / 3;
  }
  return -1;
}

/**
 * Whether an event is of the message at a position. A merged event may be: it covers all messages between its first
 * and its last one, and is of some of them.
 */
export function covers(event: StoredEvent, segmentId: number, index: number): boolean {
  const { at, merged } = event;
  if (at === undefined) return false;
  if (merged === undefined) return rangeOf(event, segmentId, index) !== -1;
  const [fromSegment = 0, from = 0, , toSegment = 0, , to = 0] = at;
  if (segmentId < fromSegment || segmentId > toSegment) return false;
  return (segmentId > fromSegment || index >= from) && (segmentId < toSegment || index < to);
}

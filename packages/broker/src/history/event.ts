import type { DelayReason, HistoryKind, MessagePast } from "@sluice/protocol";

/** Messages of a segment: [segment, from, to) three by three, one stretch after the other. */
export type Positions = readonly number[];

/** Stretches of messages as the engine names them. */
interface Stretch {
  readonly segmentId: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Event as it is stored: JSON in a row of the journal.
 *
 * A contract: members get no other meaning. What is absent is not known, or does not apply.
 */
export interface StoredEvent {
  /** Grows with every event. */
  readonly n: number;
  readonly kind: HistoryKind;
  /** In ms. Of merged events, of the first. */
  readonly t: number;
  /** Messages. */
  readonly count: number;
  readonly at?: Positions;
  /** Ids of the messages, in the order of `at`: 32 digits each. */
  readonly ids?: string;
  readonly by?: string;
  readonly to?: string;
  /** Ids that the messages have where they went. */
  readonly otherIds?: string;
  readonly batch?: number;
  readonly attempt?: number;
  readonly delayMs?: number;
  readonly delay?: DelayReason;
  /** The beginning of an error, or a reason. */
  readonly error?: string;
  /** Where the whole text of the error is (`ErrorTexts`), if that is more. */
  readonly errorHash?: number;
  readonly tookMs?: number;
  readonly merged?: StoredMerge;
  /** Pasts that the messages took along from the queue before, in the order of `ids`. */
  readonly pasts?: readonly (MessagePast | null)[];
}

/** Events of one kind, peer and second. `at` covers all of them, and others that lie between. */
export interface StoredMerge {
  readonly untilMs: number;
  readonly events: number;
  readonly tookMs?: readonly number[];
}

/** Event before it has a number, a time and the hash of its error. */
export type NotedEvent = Omit<StoredEvent, "n" | "t" | "errorHash">;

/** Digits of a message id. */
export const ID_LENGTH = 32;
/** Units of an error that stand in its event: the rest is stored once for all events that share it. */
export const ERROR_BEGINNING_MAX = 200;

export function positionsOf(stretches: readonly Stretch[]): number[] {
  return stretches.flatMap(({ segmentId, from, to }) => [segmentId, from, to]);
}

export function countOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** The ids that are joined in a text. */
export function idsIn(joined: string): string[] {
  return Array.from({ length: joined.length / ID_LENGTH }, (_, i) =>
    joined.slice(i * ID_LENGTH, (i + 1) * ID_LENGTH),
  );
}

/** Whether an event is of the message at a position. Those that are merged cover more than they are of. */
export function covers({ at, merged }: StoredEvent, segmentId: number, index: number): boolean {
  if (at === undefined) return false;
  if (merged !== undefined) {
    const [fromSegment = 0, from = 0, , toSegment = 0, , to = 0] = at;
    if (segmentId < fromSegment || segmentId > toSegment) return false;
    return (segmentId > fromSegment || index >= from) && (segmentId < toSegment || index < to);
  }
  for (let i = 0; i < at.length; i += 3) {
    if (at[i] === segmentId && index >= (at[i + 1] ?? 0) && index < (at[i + 2] ?? 0)) return true;
  }
  return false;
}

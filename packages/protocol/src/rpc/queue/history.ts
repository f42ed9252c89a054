import type { DeliveryLogs } from "../consumer.ts";
import type { ConsumerHealth, QueueRates } from "./description.ts";

/**
 * Kinds of events in the history of a queue.
 *
 * - `accepted`: sent by a producer, stored.
 * - `delivered`: given to a consumer, or received by a client.
 * - `printed`: what a handler printed during a delivery.
 * - `acked`: handled and gone.
 * - `failed`: a delivery ended with an error.
 * - `retried`: waits for another delivery.
 * - `deadLettered`: moved to another queue because it was given up.
 * - `dropped`: given up and deleted, because there is no queue for it.
 * - `arrived`: came from another queue, as a dead letter or by a move task.
 * - `redriven`: moved to another queue by a move task.
 * - `expired`: deleted because it was older than its queue keeps messages.
 * - `deleted`: deleted by hand. `purged`: the same of all messages of a queue.
 * - `faulted`: an injected fault acted on a delivery, in development. `error` names it and says what it does.
 * - `paused`, `resumed`: of the queue, not of a message.
 * - `clockMoved`: of the queue, in development. Its clock was moved forward by `delayMs`.
 */
export const HISTORY_KINDS = [
  "accepted",
  "delivered",
  "printed",
  "acked",
  "retried",
  "failed",
  "deadLettered",
  "arrived",
  "redriven",
  "expired",
  "purged",
  "deleted",
  "dropped",
  "faulted",
  "paused",
  "resumed",
  "clockMoved",
] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

/**
 * Why messages wait.
 *
 * - `message`: by a delay of their own. `send`: by the delay of their batch or binding. `queue`: by `delivery_delay`.
 * - `handler`: the retry named a delay. `policy`: by the retry policy. `retryDelay`: by `retry_delay`.
 * - `absence`: no delay; no consumer was there to take them, and the attempt does not count.
 * - `restart`: the broker stopped during their delivery.
 */
export type DelayReason =
  | "message"
  | "send"
  | "queue"
  | "handler"
  | "policy"
  | "retryDelay"
  | "absence"
  | "restart";

/** Longest error text that is kept, message and stack together, in UTF-16 units. */
export const ERROR_TEXT_MAX = 8_000;
/** Upper ends of the classes in which durations of merged events are counted, in ms; one more class is for the rest. */
export const TOOK_MS_CLASSES = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 30_000] as const;
/** Most ids that are given with an event. */
export const HISTORY_IDS_MAX = 100;
/** Most ids of messages that are listed by their beginning. */
export const NAMED_IDS_MAX = 20;
/** Most events of one answer. */
export const HISTORY_EVENTS_MAX = 500;

/** One thing that happened to messages of a queue, at one moment and for one reason. */
export interface HistoryEvent {
  /** Grows with every event of the queue; events that were left out leave gaps. */
  readonly number: number;
  readonly kind: HistoryKind;
  readonly atMs: number;
  /** The queue that it happened in. */
  readonly queue: string;
  /** Messages that it happened to. */
  readonly messages: number;
  /** Ids of these, `HISTORY_IDS_MAX` at most; none where only their number is known. */
  readonly ids: readonly string[];
  /** Actor behind the event: a producer, a consumer, a client, or the queue that the messages came from. */
  readonly by: string | null;
  /** Where the messages went. */
  readonly to: string | null;
  /** Ids of the same messages in the queue that they went to or came from, in the order of `ids`, if these differ. */
  readonly otherIds: readonly string[];
  /** Names the delivery among those of the queue: an end has that of its beginning. */
  readonly batch: number | null;
  /** Deliveries so far, this one included, of the first message; in a story of the message itself. */
  readonly attempt: number | null;
  readonly delayMs: number | null;
  readonly delayReason: DelayReason | null;
  /** Error that was thrown, with its stack, or the reason of the event. */
  readonly error: string | null;
  /** How long the delivery took. */
  readonly tookMs: number | null;
  /**
   * Summary of the events that were merged into this one, since more happened in their second than is kept one by one;
   * else `null`.
   */
  readonly merged: MergedEvents | null;
  /** Past of a dead letter that arrived: its first send, and the queues that gave it up. */
  readonly past: MessagePast | null;
  /** In a story: for how long delivery was paused since the event before, in ms. Absent for none. */
  readonly pausedMs?: number;
  /** In a story: by how much the clock was moved since the event before, in ms. Absent for none. */
  readonly movedMs?: number;
  /** Lines that a handler printed; absent if none. */
  readonly logs?: PrintedLogs;
}

/**
 * Lines that a handler printed during a delivery. A contract: the history stores it. Only optional members may be
 * added.
 */
export interface PrintedLogs extends DeliveryLogs {
  /** When the delivery began, in ms. */
  readonly beganMs: number;
}

export interface MergedEvents {
  /** The last one of them, in ms. */
  readonly untilMs: number;
  /** Events. */
  readonly events: number;
  /** Events by duration, one count for each of `TOOK_MS_CLASSES` and one for the rest; `null` where none is known. */
  readonly tookMs: readonly number[] | null;
}

/** Past of a message in earlier queues. A contract: its record stores it. Only optional members may be added. */
export interface MessagePast {
  /** Its first queue, its id there, the time of its send and its sender, `null` where that is unknown. */
  readonly queue: string;
  readonly id: string;
  readonly sentMs: number;
  readonly by: string | null;
  /** Queues that gave it up, oldest first. */
  readonly ends: readonly PastEnd[];
}

/** How a message left a queue before. */
export interface PastEnd {
  readonly queue: string;
  readonly id: string;
  readonly kind: "deadLettered" | "redriven";
  readonly atMs: number;
  readonly attempts: number;
  /** Beginning of the last error; `null` for a message that was redriven. */
  readonly error: string | null;
}

export interface HistoryRequest {
  /** Events before this number. Default: the newest. */
  readonly before?: number;
  /** Events after this number. Default: all. */
  readonly after?: number;
  /** Goes on where the list with this `cursor` has ended, in place of `before`, for a queue with shards. */
  readonly cursor?: string;
  /** Default: all. */
  readonly kinds?: readonly HistoryKind[];
  /** 1 to `HISTORY_EVENTS_MAX`. */
  readonly max: number;
}

export interface HistoryReply {
  /** Whether the queue keeps a history. What it kept before it was turned off is still answered. */
  readonly isOn: boolean;
  /** Newest first. */
  readonly events: readonly HistoryEvent[];
  /** `before` of the next request; `null` when there is nothing older. */
  readonly next: number | null;
  /** Goes on in the history of a queue with shards, in place of `next`. Absent when there is nothing older. */
  readonly cursor?: string;
}

/**
 * Why the story of a message may have gaps.
 *
 * - `merged`: more happened from `sinceMs` to `untilMs` than is kept message by message.
 * - `overwritten`: what is older than `untilMs` is not kept any more.
 * - `off`: the queue keeps no history.
 * - `unknown`: for none of these reasons no event names the message by its id, or its send, a delivery, or the end of a
 *   message that is gone is missing. A crash loses events that were not written.
 */
export interface StoryGap {
  readonly queue: string;
  readonly reason: "merged" | "overwritten" | "off" | "unknown";
  /** Moment of the first event that may be missing; absent or `null` if that is not known. */
  readonly sinceMs?: number | null;
  readonly untilMs: number | null;
  /** Kinds of the events that may be missing. Absent for any. */
  readonly kinds?: readonly HistoryKind[];
  /** Number of the message's event before the gap; absent if the gap is before all of them, or anywhere. */
  readonly after?: number;
}

/** A message in another queue. */
export interface MessageElsewhere {
  readonly queue: string;
  readonly id: string;
}

export interface StoryReply {
  /** Oldest first. */
  readonly events: readonly HistoryEvent[];
  readonly gaps: readonly StoryGap[];
  /** Where the message was before, and where it went; `null` where that is not known. */
  readonly before: MessageElsewhere | null;
  readonly after: MessageElsewhere | null;
  /** Trace id of the message. Absent where no event names one. */
  readonly traceId?: string;
}

/** Figures of a queue: its backlog, and how much has happened in it. */
export interface QueueFigures {
  /** The queue's own time in ms. */
  readonly nowMs: number;
  readonly ready: number;
  readonly delayed: number;
  readonly leased: number;
  readonly backlogBytes: number;
  /** 0 when nothing waits. */
  readonly oldestMessageTimestampMs: number;
  /** Whether it keeps a history. Else the members below do not change. */
  readonly isOn: boolean;
  /** Messages since its object is awake, by kind of event. */
  readonly totals: Readonly<Partial<Record<HistoryKind, number>>>;
  /** Deliveries that have ended since then, by `TOOK_MS_CLASSES`. */
  readonly tookMs: readonly number[];
  /** Absent without a history. */
  readonly rates?: QueueRates;
  /** How delivery goes; `null` for a queue whose messages the broker delivers to no consumer. */
  readonly consumer?: ConsumerHealth | null;
}

/** Windows of figures, up to now: the length of a column in ms, and the number of columns. */
export const FIGURES_WINDOWS = {
  "5m": { stepMs: 1_000, columns: 300 },
  "1h": { stepMs: 60_000, columns: 60 },
  "24h": { stepMs: 600_000, columns: 144 },
} as const;
export type FiguresWindow = keyof typeof FIGURES_WINDOWS;

export interface FiguresRequest {
  readonly window: FiguresWindow;
}

/**
 * Figures of a queue over a window, in columns of one length, oldest first. Time that never passed because the clock
 * was moved has no column.
 */
export interface FiguresReply {
  /** Whether the queue keeps a history. Else only `held` and `ageMs` are known, of moments at which they were read. */
  readonly isOn: boolean;
  readonly nowMs: number;
  /** Length of a column in ms. */
  readonly stepMs: number;
  /** Time in ms from which on counts are known; `null` if none are. */
  readonly sinceMs: number | null;
  /** Beginnings of the columns, in ms. */
  readonly startsMs: readonly number[];
  /** Messages of each column by kind of event. Kinds without any are absent. */
  readonly counts: Readonly<Partial<Record<HistoryKind, readonly number[]>>>;
  /** Most messages that the queue held; `null` where that is not known. */
  readonly held: readonly (number | null)[];
  /** Greatest age of the oldest message that waited, in ms; `null` where that is not known. */
  readonly ageMs: readonly (number | null)[];
  /** Durations that a half, and 99 of 100, of the deliveries did not exceed, in ms; `null` without a delivery. */
  readonly p50Ms: readonly (number | null)[];
  readonly p99Ms: readonly (number | null)[];
  /** All deliveries of the window. */
  readonly took: {
    /** By `TOOK_MS_CLASSES`; empty if there were none. */
    readonly tookMs: readonly number[];
    readonly p50Ms: number | null;
    readonly p99Ms: number | null;
    readonly longestMs: number | null;
  };
  /** Marks of what changed deliveries in the window, oldest first: the newest `FIGURES_MARKS_MAX`. */
  readonly marks: readonly FiguresMark[];
}

/** Most marks of an answer. */
export const FIGURES_MARKS_MAX = 100;

export interface FiguresMark {
  /** Kind of an event, or `clockMoved`. */
  readonly kind: string;
  readonly atMs: number;
  /** Time by which the clock was moved, in ms; `null` for any other mark. */
  readonly byMs: number | null;
}

export interface WatchRequest {
  /** `last` of the answer before; `null` for events from now on. */
  readonly after: number | null;
  /** `state` of the answer before: the call waits until it is another one. `null` does not wait. */
  readonly state: string | null;
  /** Events that are asked for. Default: all. */
  readonly kinds?: readonly HistoryKind[];
}

export interface WatchReply {
  /** For the next request; opaque. */
  readonly state: string;
  readonly last: number;
  readonly figures: QueueFigures;
  /** Oldest first. */
  readonly events: readonly HistoryEvent[];
  /** Whether events are missing before these: more happened than one answer has. */
  readonly isGap: boolean;
}

/** Methods of a queue's Durable Object that the gateway calls to learn what happened. */
export interface QueueHistoryRpc {
  history(queue: string, request: HistoryRequest): Promise<HistoryReply>;
  /** Answers with the events of a message in this queue: none for one that is not known. */
  story(queue: string, id: string): Promise<StoryReply>;
  /** Lists ids that begin so, of messages that the history names: the newest first, `NAMED_IDS_MAX` at most. */
  idsNamed(queue: string, prefix: string): Promise<readonly string[]>;
  /** Answers with the figures of a window up to now. Wakes no delivery and writes nothing. */
  figures(queue: string, request: FiguresRequest): Promise<FiguresReply>;
  /** Answers when something has happened that the caller has not seen. Rejects when the queue's object ends. */
  watch(queue: string, request: WatchRequest): Promise<WatchReply>;
}

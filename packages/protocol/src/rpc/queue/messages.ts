import type { MessageFilter, MessageState } from "../../filter/filter.ts";
import type { ContentType } from "../../wire/packed-layout.ts";
import type { HistoryKind } from "./history.ts";
import type { NewMove } from "./moves.ts";

/*
 * Calls of the gateway on a queue's object for operators: messages in any state, why one is not delivered, and how to
 * make it due. Looking leases nothing, counts nothing and writes nothing.
 */

/**
 * Why a message is not delivered, or a queue delivers nothing.
 *
 * - `delayed`: it is due later.
 * - `leased`: a consumer or a client has it.
 * - `groupBlocked`: messages of its group leave in order, and one before it is not gone.
 * - `groupHeldBack`: its group has too many messages in flight, and those of other groups leave first.
 * - `paused`: delivery is paused.
 * - `noConsumer`: the queue has no consumer, or one that this broker was not started with.
 * - `consumerAway`: the consumer does not answer, and is asked again; or it has to wait for other Workers.
 * - `throttled`: the queue's rate lets the next message out later.
 * - `batching`: the batch is not full, and its first message has not waited for the batch timeout.
 * - `concurrency`: as many deliveries run as may, or will when those before it have left.
 * - `draining`: the broker is about to be stopped.
 * - `awaitsPull`: clients ask for messages of this queue, and no client has asked for this one.
 * - `exhausted`: it was received as often as it may be. The next receive dead-letters it.
 * - `dueNow`: it leaves with the next turn.
 * - `finished`: it has left the queue.
 * - `empty`: of a queue, there is no message.
 * - `alert`: of a queue, an alert is on.
 * - `storageFull`: of a queue, its disk or its database is full and takes nothing in.
 * - `damaged`: of a queue, data of it is damaged.
 */
export type WhyReason =
  | "delayed"
  | "leased"
  | "groupBlocked"
  | "groupHeldBack"
  | "paused"
  | "noConsumer"
  | "consumerAway"
  | "throttled"
  | "batching"
  | "concurrency"
  | "draining"
  | "awaitsPull"
  | "exhausted"
  | "dueNow"
  | "finished"
  | "empty"
  | "alert"
  | "storageFull"
  | "damaged";

export interface Why {
  readonly reason: WhyReason;
  /** One sentence for people. */
  readonly text: string;
  /** When the reason ends by itself, in ms of the queue's clock; `null` where that is unknown. */
  readonly untilMs: number | null;
  /** Cause of the reason: a Worker, an endpoint, a message; `null` for none. */
  readonly by: string | null;
}

/** Why a queue delivers nothing, and what else is wrong with it. */
export interface QueueWhy extends Why {
  readonly also: readonly Why[];
  /** Messages at the moment of the reason; absent from an earlier version, and where nothing can be read. */
  readonly messages?: HeldMessages;
}

/** Messages of a queue by their state. */
export interface HeldMessages {
  readonly ready: number;
  readonly delayed: number;
  readonly leased: number;
}

/** Which messages are looked for, and how many of them are shown. */
export interface LookRequest {
  /** Most messages that are shown, 0 to `PULL_MESSAGES_MAX`. */
  readonly max: number;
  /** Default: every message. */
  readonly filter?: MessageFilter;
  /**
   * Only these: ids, or refs of `LookedAt`. Where only one is named that is not in the queue, it may be a finished one,
   * except in a count of all. Default: all.
   */
  readonly only?: readonly string[];
  /** Goes on where another look has ended. Default: at the oldest message. */
  readonly cursor?: string;
  /** Whether only what waits is looked for, ready or delayed. Default false. */
  readonly isWaiting?: boolean;
  /** Only what a move back to these queues would take, as `NewMove` has them. Default: every message. */
  readonly returning?: Required<Pick<NewMove, "mayReach">> & Pick<NewMove, "fallback">;
  /** Whether bodies are shown as a whole. Default: their first `PREVIEW_BYTES_MAX` bytes. */
  readonly isWhole?: boolean;
  /** Whether to go on behind the last message that is shown, and count. Default false. */
  readonly countsAll?: boolean;
  /** Whether the messages that fit are counted by their last errors. Default false. */
  readonly countsErrors?: boolean;
}

/** Bytes of a body that are shown of a message among others. */
export const PREVIEW_BYTES_MAX = 8_000;

/**
 * How a finished message has left its queue, by the kinds of the history.
 *
 * - `acked`: handled. `deleted`: deleted by hand. `expired`: older than its queue keeps messages.
 * - `dropped`: given up, without a queue for it.
 */
export type FinishedKind = Extract<HistoryKind, "acked" | "deleted" | "expired" | "dropped">;

/** End of a message whose body is kept. */
export interface MessageEnd {
  readonly kind: FinishedKind;
  /** In ms. */
  readonly atMs: number;
  /** Worker, endpoint or client that handled it; `null` for none. */
  readonly by: string | null;
  /** Why it was given up; `null` where it was not. */
  readonly error: string | null;
}

/** A message as it stands in its queue. Times in ms. */
export interface LookedAt {
  readonly id: string;
  /** Names it as long as it is in the queue, and finds it without a search. Letters, digits, "-" and "_". */
  readonly ref: string;
  readonly state: MessageState;
  /** Deliveries so far, the running one included. */
  readonly attempts: number;
  /** Deliveries in the last queue that gave it up. Absent where none is known. */
  readonly attemptsBefore?: number;
  readonly sentMs: number;
  /** When it is or was due, or its lease ends. */
  readonly atMs: number;
  /** When its retention ends. */
  readonly keptUntilMs: number;
  readonly contentType: ContentType;
  readonly bodyBytes: number;
  /** The body, or the beginning of it. */
  readonly body: Uint8Array;
  readonly group: string | null;
  /** Absent for none. */
  readonly deduplicationId?: string;
  /** As its dialect encodes them; `null` for none. */
  readonly attributes: Uint8Array | null;
  /** The queue that it was dead-lettered from. */
  readonly from: string | null;
  /** Trace context (`decodeTrace`). Absent for none. */
  readonly trace?: Uint8Array;
  readonly why: Why;
  /** First line of the error of its last failed delivery, here or in an earlier queue; `null` where none is known. */
  readonly lastError?: string | null;
  /** Its end, if it is finished. `keptUntilMs` has no meaning then. */
  readonly end?: MessageEnd;
}

/** Most last errors that a count lists by themselves. */
export const ERROR_GROUPS_MAX = 10;

/** Messages counted by their last errors. */
export interface ErrorCounts {
  /** The most frequent errors, the first one first: `ERROR_GROUPS_MAX` at most. */
  readonly groups: readonly ErrorGroup[];
  /** Messages with other errors. */
  readonly others: number;
  /** Messages of which no error is known. */
  readonly none: number;
}

/** Messages with the same last error, or with last errors that differ only in numbers and ids. */
export interface ErrorGroup {
  /** First line of the error; of several errors that of the first one. */
  readonly error: string;
  readonly count: number;
  /** Their pattern: `#` stands for each part that varies. Absent where they are the same. */
  readonly text?: string;
}

/** Result of a look at the messages of a queue. A look ends after `LOOK_MS_MAX`; the cursor goes on. */
export interface LookReply {
  readonly messages: readonly LookedAt[];
  /** Messages that fit; more than are shown where all are counted. */
  readonly matched: number;
  /** Where the next look goes on; `null` when every message was looked at. */
  readonly cursor: string | null;
  /** Messages that were looked at, by the looks before it too. */
  readonly searched: number;
  /** The messages that fit, by their last errors, where that was asked for. */
  readonly errors?: ErrorCounts;
  /** The queue's time, in ms since 1970. Absent from an older broker. */
  readonly nowMs?: number;
  /** Messages of the queue; finished ones where these are looked for. */
  readonly of: number;
  /** Finished messages whose bodies are kept. Absent where none are. */
  readonly finished?: number;
}

/**
 * Outcome for a message that was to be made due.
 *
 * - `due`: it was delayed or leased, and may be delivered now.
 * - `wasDue`: it was ready.
 * - `gone`: it is not in the queue any more, or its ref is none of this queue.
 */
export type MadeDue = "due" | "wasDue" | "gone";

/** Methods of a queue's object for operators who look after its messages. */
export interface QueueMessagesRpc {
  /** @throws RangeError for a `max` that is out of range and a cursor that is none. */
  look(queue: string, request: LookRequest): Promise<LookReply>;
  /** Why the queue as a whole delivers nothing more now. */
  why(queue: string): Promise<QueueWhy>;
  /**
   * Lets messages be delivered now, by their refs. A lease of one ends: its delivery counts, its consumer goes on, and
   * what that settles finds nothing.
   */
  makeDue(queue: string, refs: readonly string[]): Promise<readonly MadeDue[]>;
}

import type { RpcFailure, SendRequest } from "../send.ts";
import type { CancelMoveReply, MoveTask, NewMove, StartMoveReply } from "./moves.ts";

/*
 * Calls of the gateway on a queue's Durable Object for a dialect with visibility timeouts (spec sqs 3, 4, 6, 7). Plain
 * data only. The edge checks ranges and names in the dialect's words; a value out of range here throws RangeError.
 */

/** A message that was sent, in the order of the request. */
export interface EnqueuedMessage {
  /** 32 hexadecimal digits; of a duplicate, the id of the message that was there first. */
  readonly messageId: string;
  /** 20 digits, growing; `null` on a standard queue. Of a duplicate, that of the first message. */
  readonly sequenceNumber: string | null;
  /** Whether the deduplication id was known, so that nothing was stored. */
  readonly duplicate: boolean;
}

export interface EnqueueRequest extends SendRequest {
  /**
   * Deliveries that each message has had in the queue of which it was exported. Such messages are kept as long as new
   * ones are, whenever they were sent. Default: they are new.
   */
  readonly attempts?: readonly number[];
  /**
   * Stores each message once: one whose id the queue remembers is answered as a duplicate. Ids are remembered for 14
   * days, or until a request names them here, because their messages cannot come again. Absent: no id is looked at.
   */
  readonly once?: { readonly forget: readonly string[] };
  /** Revision of the queue's record that the sender checked by. Absent: the present one is right, whichever it is. */
  readonly revision?: number;
}

/**
 * `messages` is `null` on a standard queue without `once`: each was stored, under the id that its sender gave it.
 * `outdated`: the queue is known under a later revision than the sender's. Nothing was stored.
 */
export type EnqueueReply =
  | { readonly ok: true; readonly messages: readonly EnqueuedMessage[] | null }
  | { readonly ok: "outdated" }
  | RpcFailure;

export interface ReceiveRequest {
  /** Most messages, 1 to `RECEIVE_MESSAGES_MAX`. */
  readonly max: number;
  /** 0 to `VISIBILITY_TIMEOUT_MS_MAX`; absent means the queue's. */
  readonly visibilityTimeoutMs?: number;
  /** How long to wait for a first message, 0 to `RECEIVE_WAIT_MS_MAX`; absent means the queue's. 0 is a short poll. */
  readonly waitMs?: number;
  /** FIFO queues only: a receive that repeats the id gets the same messages again (spec sqs 4.5). */
  readonly attemptId?: string;
  /** Whether nothing new is received: only what an earlier receive with the attempt id got. Default false. */
  readonly onlyRepeated?: boolean;
  /** Names this call for `cancelReceive`: unique, chosen by the caller. */
  readonly receiverId?: string;
}

/**
 * Messages that were received: their records, and in the same order what else is known of each. In columns, since the
 * names of an object's members go along with each object in a call: ten small ones took three times as long as these.
 */
export interface ReceivedMessages {
  readonly packed: Uint8Array;
  /** Receipt handles: each names this act of receiving. Opaque, at most 1,024 characters without control characters. */
  readonly receipts: readonly string[];
  /** Receives so far, this one and those in earlier queues included. */
  readonly receiveCounts: readonly number[];
  /** In ms since 1970. */
  readonly firstReceivedMs: readonly number[];
  /** 20 digits each; `null` on a standard queue. */
  readonly sequenceNumbers: readonly string[] | null;
}

/**
 * - `received`: at least one message.
 * - `empty`: nothing could be had, until the end of the wait if there was one.
 * - `overLimit`: a short poll of a standard queue with `IN_FLIGHT_MAX` messages in flight (spec sqs 3.5).
 */
export type ReceiveReply =
  | ({ readonly kind: "received" } & ReceivedMessages)
  | { readonly kind: "empty" }
  | { readonly kind: "overLimit" };

/** Metadata of one received message, besides its record. */
export interface ReceivedMessage {
  readonly receipt: string;
  readonly receiveCount: number;
  readonly firstReceivedMs: number;
  readonly sequenceNumber: string | null;
}

/** Picks the metadata of message i. Throws RangeError for one that was not received. */
export function receivedMessage(received: ReceivedMessages, i: number): ReceivedMessage {
  const receipt = received.receipts[i];
  const receiveCount = received.receiveCounts[i];
  const firstReceivedMs = received.firstReceivedMs[i];
  if (receipt === undefined || receiveCount === undefined || firstReceivedMs === undefined) {
    throw new RangeError(`message ${i} of ${received.receipts.length} that were received`);
  }
  return { receipt, receiveCount, firstReceivedMs, sequenceNumber: received.sequenceNumbers?.[i] ?? null };
}

/** `unserved`: other receives of the same call have filled the answer; no message was looked for. */
export type ReceiveNowReply = ReceiveReply | { readonly kind: "unserved" };

/** Bytes of messages after which the rest of a call's receives is `unserved`: RPC takes 32 MiB at most. */
export const RECEIVE_NOW_BYTES_MAX = 8_000_000;

/**
 * - `deleted`: it is gone, or was already (spec sqs 3.4).
 * - `invalid`: the text is no receipt of this queue.
 * - `expired`: a receipt of a FIFO queue whose time is up.
 */
export type DeleteOutcome = "deleted" | "invalid" | "expired";

export interface VisibilityChange {
  readonly receipt: string;
  /** Counted from now; 0 makes the message visible at once. */
  readonly visibilityTimeoutMs: number;
}

/**
 * - `changed`.
 * - `invalid`, `expired`: as for a delete.
 * - `gone`: the message does not exist any more.
 * - `overTotal`: it would be invisible for longer than `VISIBILITY_TIMEOUT_MS_MAX` since its receive; nothing was
 *   changed.
 */
export type VisibilityOutcome = "changed" | "invalid" | "expired" | "gone" | "overTotal";

/**
 * Work of several requests on a queue, in one call and one commit. A part that is absent is not asked for.
 *
 * Deletes and changes are done first, then messages are taken in, and received last.
 */
export interface QueueWork {
  /**
   * All of its messages are stored, or none. On a FIFO queue those whose deduplication id is known are answered and not
   * stored.
   */
  readonly enqueue?: EnqueueRequest;
  /** Receives that wait for nothing, in order: whatever `waitMs` they have. */
  readonly receive?: readonly ReceiveRequest[];
  /** Receipts of messages to delete. */
  readonly remove?: readonly string[];
  readonly change?: readonly VisibilityChange[];
}

/** Result of each part, in the order of its elements; absent for a part that was not asked for. */
export interface QueueWorkDone {
  readonly enqueued?: EnqueueReply;
  readonly received?: readonly ReceiveNowReply[];
  readonly removed?: readonly DeleteOutcome[];
  readonly changed?: readonly VisibilityOutcome[];
}

/** Where the messages of a queue stand, exactly. */
export interface MessageCounts {
  /** Visible, those of blocked groups included (spec sqs 4.2). */
  readonly visible: number;
  /** In flight. */
  readonly notVisible: number;
  readonly delayed: number;
}

/** Methods of a queue's object for dialects with visibility timeouts. */
export interface QueueReceiveRpc {
  /** Does the work of several requests. A failure is one of all: the queue does not exist, or cannot be read. */
  work(queue: string, work: QueueWork): Promise<({ readonly ok: true } & QueueWorkDone) | RpcFailure>;
  /** Waits for messages at most as long as it is asked to. Waiting receivers are served first come, first served. */
  receive(queue: string, request: ReceiveRequest): Promise<ReceiveReply>;
  /** Ends a `receive` that waits, because its caller has gone: it takes no message and is answered with `empty`. */
  cancelReceive(queue: string, receiverId: string): Promise<void>;
  /**
   * Undoes a receive whose answer has reached no client: its messages are visible again, in their places, and it does
   * not count. Receipts that do not hold their message any more are left alone. Answers with the number of the others.
   */
  release(queue: string, receipts: readonly string[]): Promise<number>;
  messageCounts(queue: string): Promise<MessageCounts>;
  /** Starts moving everything in this queue elsewhere: what a dead-letter queue is redriven with (spec sqs 6.4). */
  startMove(queue: string, move: NewMove): Promise<StartMoveReply>;
  cancelMove(queue: string, taskId: string): Promise<CancelMoveReply>;
  /** The tasks of this queue, newest first; the last ten are kept. */
  listMoves(queue: string): Promise<readonly MoveTask[]>;
}

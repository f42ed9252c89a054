import {
  QUEUE_ERROR_CODES,
  type QueueDamage,
  type QueueDescription,
  type QueueWhy,
  type RpcFailure,
  type TopicDescription,
} from "@sluice/protocol";
import type { Host } from "../platform/host.ts";
import { traceOf } from "../platform/log.ts";
import type { ManyQueuesLog } from "../platform/many-queues-log.ts";
import { QueueNotFoundError } from "./registration.ts";

/** Error for a queue that cannot be opened: its calls are refused until it can be. */
export class UnreadableQueueError extends Error {
  override readonly name = "UnreadableQueueError";

  constructor(queue: string, reason: unknown) {
    super(`queue "${queue}" cannot be read: ${reason}`, { cause: reason });
    // The stack of the reason: it leads to what cannot be read.
    this.stack = `${this.name}: queue "${queue}" cannot be read: ${traceOf(reason)}`;
  }

  /** Reply to a send. */
  get failure(): RpcFailure {
    return { ok: false, code: QUEUE_ERROR_CODES.unknownInternalError, cause: this.message };
  }
}

/** Error for a queue that cannot be identified: the directory does not answer, and the queue has stored nothing. */
export class UnidentifiedError extends Error {
  override readonly name = "UnidentifiedError";

  readonly reason: string;

  /** @param reason why the directory does not answer. */
  constructor(reason: string) {
    super(`the directory does not answer, and nothing else tells what it is: ${reason}`);
    this.reason = reason;
  }
}

/** Error for a queue with a damaged database file: what can be read is delivered, and nothing is taken in. */
export class UnwritableQueueError extends Error {
  override readonly name = "UnwritableQueueError";

  constructor(queue: string, finding: string) {
    super(`queue "${queue}" takes no messages, its database file is damaged: ${finding}`);
  }

  /** Reply to a send. */
  get failure(): RpcFailure {
    return { ok: false, code: QUEUE_ERROR_CODES.unknownInternalError, cause: this.message };
  }
}

/** Logs why a queue could not be opened. A busy directory keeps all new queues waiting, which are logged together. */
export function logUnopened(error: unknown, host: Host<unknown>, manyQueues: ManyQueuesLog): void {
  const cause = error instanceof UnreadableQueueError ? error.cause : null;
  const queue = `${host.id.name}`;
  if (!(cause instanceof UnidentifiedError)) host.log.error(`Queue "${queue}": ${traceOf(error)}`);
  else manyQueues.warn(queue, "it cannot be opened yet, the directory does not answer", cause.reason, host);
}

/** Explains why a queue that cannot be read delivers nothing. */
export function whyUnreadable(reason: string): QueueWhy {
  return {
    reason: "damaged",
    text: `Nothing of it can be read: ${reason}.`,
    untilMs: null,
    by: null,
    also: [],
  };
}

/** Makes the reply to a send that was not taken in. Throws an error that is no refusal. */
export function refusalOf(error: unknown): RpcFailure {
  const isRefusal =
    error instanceof UnreadableQueueError ||
    error instanceof UnwritableQueueError ||
    error instanceof QueueNotFoundError;
  if (isRefusal) return error.failure;
  throw error;
}

/** The description of a queue of which nothing can be read. */
export function describeUnreadable(queue: string, reason: unknown, nowMs: number): QueueDescription {
  return {
    queue,
    nowMs,
    awakeSinceMs: nowMs,
    ready: 0,
    delayed: 0,
    leased: 0,
    backlogBytes: 0,
    oldestMessageTimestampMs: 0,
    rowsWritten: 0,
    rowsRead: 0,
    damage: [unreadable(reason, nowMs)],
    consumer: null,
    lastMove: null,
  };
}

/** The same of a topic. */
export function describeUnreadableTopic(reason: unknown, nowMs: number): TopicDescription {
  return {
    nowMs,
    awakeSinceMs: nowMs,
    published: 0,
    duplicates: 0,
    handOvers: [],
    damage: [unreadable(reason, nowMs)],
  };
}

function unreadable(reason: unknown, nowMs: number): QueueDamage {
  return { kind: "unreadable", foundAtMs: nowMs, messagesLost: null, text: String(reason) };
}

import { QUEUE_ERROR_CODES, type QueueDescription, type RpcFailure } from "@sluice/protocol";

/** Nothing of a queue can be read: its calls are refused until it can be. */
export class UnreadableQueueError extends Error {
  override readonly name = "UnreadableQueueError";

  constructor(queue: string, reason: unknown) {
    super(`queue "${queue}" cannot be read: ${reason}`);
  }

  /** What a send is answered with. */
  get failure(): RpcFailure {
    return { ok: false, code: QUEUE_ERROR_CODES.unknownInternalError, cause: this.message };
  }
}

/** The description of a queue of which nothing can be read. */
export function describeUnreadable(queue: string, reason: unknown, nowMs: number): QueueDescription {
  return {
    queue,
    ready: 0,
    delayed: 0,
    leased: 0,
    backlogBytes: 0,
    oldestMessageTimestampMs: 0,
    rowsWritten: 0,
    rowsRead: 0,
    damage: [{ kind: "unreadable", foundAtMs: nowMs, messagesLost: null, text: String(reason) }],
    consumer: null,
  };
}

import type { MessageFilter } from "../../filter/filter.ts";

/* Tasks that move the messages of a queue elsewhere: what a dead-letter queue is redriven with (spec sqs 6.4). */

/** Status of a move task. A queue has at most one that is running. */
export type MoveStatus = "running" | "completed" | "cancelled" | "failed";

export interface NewMove {
  /** Unique, chosen by the caller. */
  readonly taskId: string;
  /** Queue that takes the messages; `null` gives each back to the queue that it was dead-lettered from. */
  readonly target: string | null;
  /**
   * Without a target: the queue that takes messages which do not say where they were dead-lettered from. Default: none.
   */
  readonly fallback?: string;
  /**
   * Without a target: queues that the caller may send to, by names or beginnings of names that end in `*`. A message
   * that goes to another one stays. Default: every queue.
   */
  readonly mayReach?: readonly string[];
  /** Which messages leave. Default: every one that is ready. */
  readonly selection?: MoveSelection;
  /** Messages per second, 1 to `MOVE_RATE_MAX`; `null` moves as fast as it goes. */
  readonly ratePerSecond: number | null;
}

/** Selection of those waiting messages, ready or delayed, that a move takes. */
export interface MoveSelection {
  /** Default: every message. */
  readonly filter?: MessageFilter;
  /** Only these, by ids and refs: `MOVED_NAMES_MAX` at most. Default: every message. */
  readonly only?: readonly string[];
  /** Most messages. Default: any number. */
  readonly limit?: number;
}

/** Messages that a move can name. */
export const MOVED_NAMES_MAX = 1_000;

/** A move task, times in ms since 1970. A contract: it is stored. Only optional members may be added. */
export interface MoveTask extends NewMove {
  readonly status: MoveStatus;
  readonly startedMs: number;
  /** Messages that have left this queue for their target. */
  readonly moved: number;
  /** Messages in the queue at the start of the task; of a selection the most that it can be, until the end. */
  readonly toMove: number;
  /** Messages that have stayed because they go to a queue that `mayReach` does not name. Default: none. */
  readonly stayed?: number;
  readonly failure: MoveFailure | null;
}

/**
 * - `targetNotFound`: a queue that messages go to does not exist (any more).
 * - `sourceUnknown`: no target was named, and a message does not say which queue it was dead-lettered from.
 * - `notAllowed`: messages have stayed whose queues `mayReach` does not name; all others were moved.
 * - `tookTooLong`: it ran for `MOVE_MS_MAX`.
 */
export type MoveFailure = "targetNotFound" | "sourceUnknown" | "notAllowed" | "tookTooLong";

export type StartMoveReply =
  | { readonly ok: true; readonly task: MoveTask }
  | { readonly ok: false; readonly reason: "active" };

export type CancelMoveReply =
  | { readonly ok: true; readonly task: MoveTask }
  | { readonly ok: false; readonly reason: "unknown" | "notActive" };

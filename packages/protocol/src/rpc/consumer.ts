import type { BacklogMetrics } from "./send.ts";

/** A batch on its way out. */
export interface Delivery {
  /** Names this delivery among all that a consumer ever gets, from any broker. */
  readonly id: string;
  readonly queue: string;
  readonly packed: Uint8Array;
  /** Attempt number of each message, 1 for a first delivery; one number when they all have the same. */
  readonly attempts: number | readonly number[];
  readonly metrics: BacklogMetrics;
  /** Whether the broker wants what the handler prints (`DeliveryResult.logs`). Default: false. */
  readonly logs?: boolean;
  /** `traceparent` of the span that the broker has begun for this delivery. Absent where it makes none. */
  readonly trace?: string;
}

/** Messages of a queue that are with its consumer: delivered, and not answered yet. */
export interface InDelivery {
  readonly queue: string;
  /** Name of the Worker; `null` for an HTTP endpoint. */
  readonly worker: string | null;
  readonly messages: number;
  /** Largest attempt number of these messages, 1 at the first delivery. */
  readonly attempt: number;
  /** When the first of the deliveries began, in ms since 1970. */
  readonly sinceMs: number;
}

/** Methods of the console whose lines are taken. */
export const LOG_LEVELS = ["debug", "info", "log", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** Most lines of a delivery that are taken, and most UTF-16 units of all of them and of each. */
export const LOG_LINES_MAX = 100;
export const LOG_UNITS_MAX = 8_000;
export const LOG_LINE_UNITS_MAX = 2_000;

/** Call of a method of the console. */
export interface LogLine {
  /** Time since the beginning of the delivery, in ms: the consumer's clock may be another one than the broker's. */
  readonly afterMs: number;
  readonly level: LogLevel;
  readonly text: string;
}

/** Lines that a handler printed during a delivery. */
export interface DeliveryLogs {
  /** The first lines, within the limits, and the last one of level `error` if it is beyond them. */
  readonly lines: readonly LogLine[];
  /** Lines that were left out since they are beyond the limits. Default: 0. */
  readonly leftOut?: number;
  /** Lines that were left out since other deliveries ran in the isolate, and may have printed them. Default: 0. */
  readonly mixed?: number;
  /** Whether other code of the Worker may have printed some of the lines. Default: false. */
  readonly ofWorker?: boolean;
}

/** Calls that a handler has made on its batch and its messages. */
export interface HandlerCalls {
  readonly ackAll: boolean;
  readonly retryBatch: { readonly retry: boolean; readonly delaySeconds?: number };
  readonly explicitAcks: readonly string[];
  readonly retryMessages: readonly RetryCall[];
  /** Lines that the handler has printed so far, where the delivery asks for them. */
  readonly logs?: DeliveryLogs;
}

/** Retry of one message. */
export interface RetryCall {
  readonly msgId: string;
  readonly delaySeconds?: number;
  /** First line of the error that the handler printed right before, where the delivery asks for logs. */
  readonly printed?: string;
}

/** Calls of a handler that has made none. */
export const NO_CALLS: HandlerCalls = {
  ackAll: false,
  retryBatch: { retry: false },
  explicitAcks: [],
  retryMessages: [],
};

/**
 * Result of a delivery, as the consumer reports it; field for field that of workerd's own dispatch (spec
 * cloudflare-queues 2.8).
 */
export interface DeliveryResult extends HandlerCalls {
  /** `ok`, `exception` or `REFUSED`; the broker adds `exceededWallTime`. */
  readonly outcome: string;
  /** First line of what the handler threw, for the log. */
  readonly error?: string;
  /**
   * Text of what the handler threw, with its stack and causes, `ERROR_TEXT_MAX` units at most; absent if `error` says
   * as much.
   */
  readonly stack?: string;
}

/**
 * Outcome of a delivery by a protocol that the consumer does not speak: its handler has not run, nothing is settled,
 * and `error` says which side is too old.
 */
export const REFUSED = "refused";

/** Methods of a consumer Worker's generated entrypoint that the broker calls. */
export interface QueueConsumerRpc {
  /**
   * Runs the user's `queue()` handler. Never rejects because of what the handler does.
   *
   * @param protocol the broker's `PROTOCOL_VERSION`. Default: that of a build which names none.
   */
  deliver(delivery: Delivery, protocol?: number): Promise<DeliveryReply>;
  /**
   * Answers with the calls that the handler of a delivery without a result has made so far: the platform ends a handler
   * that hangs, and its acknowledgements must not go with it. Once for each delivery; `null` when the isolate that ran
   * it is not this one.
   */
  callsOf(deliveryId: string): Promise<HandlerCalls | null>;
  /** Answers if the Worker runs at all and can be delivered to: after a crash it does, in an absence it does not. */
  ping(protocol?: number): Promise<"pong">;
}

/** Answer to a delivery: one word where all of it is acknowledged and nothing is printed (`deliveryReply`). */
export type DeliveryReply = "acknowledged" | DeliveryResult;

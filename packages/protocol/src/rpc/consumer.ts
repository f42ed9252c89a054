import type { BacklogMetrics } from "./send.ts";

/** A batch on its way out. */
export interface Delivery {
  /** Names this delivery among all that a consumer ever gets, from whatever broker. */
  readonly id: string;
  readonly queue: string;
  readonly packed: Uint8Array;
  /** Attempt number of each message, 1 for a first delivery; one number when they all have the same. */
  readonly attempts: number | readonly number[];
  readonly metrics: BacklogMetrics;
}

/** What a handler has called on its batch and its messages. */
export interface HandlerCalls {
  readonly ackAll: boolean;
  readonly retryBatch: { readonly retry: boolean; readonly delaySeconds?: number };
  readonly explicitAcks: readonly string[];
  readonly retryMessages: readonly { readonly msgId: string; readonly delaySeconds?: number }[];
}

/**
 * What a handler did with its batch; field for field what workerd's own dispatch reports (spec cloudflare-queues 2.8).
 */
export interface DeliveryResult extends HandlerCalls {
  /** `ok` or `exception`; the broker adds `exceededWallTime`. */
  readonly outcome: string;
  /** First line of what the handler threw, for the log. */
  readonly error?: string;
  /** What the handler threw with its stack and causes, `ERROR_TEXT_MAX` at most; if that is more than `error`. */
  readonly stack?: string;
}

/** What the broker calls on a consumer Worker's generated entrypoint. */
export interface QueueConsumerRpc {
  /**
   * Runs the user's `queue()` handler. Never rejects because of what the handler does.
   *
   * @param protocol the broker's `PROTOCOL_VERSION`. Default: that of a build which names none.
   */
  deliver(delivery: Delivery, protocol?: number): Promise<DeliveryReply | RefusedDelivery>;
  /**
   * What the handler of a delivery that has no result has called so far: the platform ends a handler that hangs, and
   * its acknowledgements must not go with it. Once for each delivery; `null` when the isolate that ran it is not this
   * one.
   */
  callsOf(deliveryId: string): Promise<HandlerCalls | null>;
  /** Answers if the Worker runs at all, and can be delivered to: tells a crash from an absence. */
  ping(protocol?: number): Promise<"pong">;
}

/** The answer of a consumer that does not understand the broker: its handler has not run, and its messages wait. */
export interface RefusedDelivery {
  /** For people. */
  readonly refused: string;
}

/** What a delivery is answered with: one word where all of it is acknowledged, as it mostly is (`deliveryReply`). */
export type DeliveryReply = "acknowledged" | DeliveryResult;

import type { QueueDamage } from "./damage.ts";
import type { MoveTask } from "./receive.ts";

/**
 * The RPC interfaces between the three kinds of Workers. Plain data only: RPC refuses class instances, so dates travel
 * as milliseconds and errors as codes.
 */

/** Backlog figures: every message that waits (ready or delayed), without the leased ones (spec cloudflare-queues 10). */
export interface BacklogMetrics {
  readonly backlogCount: number;
  readonly backlogBytes: number;
  /** Send time of the oldest waiting message in ms since 1970; 0 when nothing waits. */
  readonly oldestMessageTimestampMs: number;
}

/**
 * Messages on their way in that share a default delay. Concurrent sends share a call and, where their delay is the same, a
 * request: the limits of a single batch are checked before, at the edge.
 */
export interface SendRequest {
  readonly packed: Uint8Array;
  /** Delay of the messages that name none, in seconds; absent means the queue's `delivery_delay`. */
  readonly delaySeconds?: number;
}

/** An error of a dialect, as data. */
export interface RpcFailure {
  readonly ok: false;
  readonly code: number;
  readonly cause: string;
}

export type SendReply = { readonly ok: true; readonly metrics: BacklogMetrics } | RpcFailure;

/** What a delivery is answered with: one word where all of it is acknowledged, as it mostly is (`deliveryReply`). */
export type DeliveryReply = "acknowledged" | DeliveryResult;

/** What a producer's send is answered with: the backlog figures as a text (`metricsText`), or why nothing was stored. */
export type PostReply = string | RpcFailure;

/** What producers call on a queue's Durable Object. */
export interface QueuePostRpc {
  /**
   * `send`, answered with a text. An object in an answer takes a lone send 15 µs longer, a twentieth of its time: the sync of
   * its commit has emptied the processor's caches of what reads it.
   */
  post(queue: string, requests: readonly SendRequest[]): Promise<PostReply>;
}

/** What the gateway calls on a queue's Durable Object. */
export interface QueueBrokerRpc {
  /** Stores the batches, all or none, and answers after the commit. */
  send(queue: string, requests: readonly SendRequest[]): Promise<SendReply>;
  metrics(queue: string): Promise<BacklogMetrics>;
  describe(queue: string): Promise<QueueDescription>;
  /** Deletes every message, leased ones included, and answers how many there were. */
  purge(queue: string): Promise<PurgeReply>;
  /**
   * For who stops a broker: the queue's worker daemon begins no request for 10 s from now on. Ask again until none is left.
   * A queue without one has none.
   */
  drain(queue: string): Promise<DrainReply>;
}

export interface DrainReply {
  /** Requests to the application that have not been answered. */
  readonly requests: number;
}

export interface PurgeReply {
  readonly purged: number;
}

/** State of a queue for people: what the admin API shows. */
export interface QueueDescription {
  readonly queue: string;
  /** The queue's own time in ms: in development it can be ahead of everybody else's. */
  readonly nowMs: number;
  /** Since when the object has been awake, in ms: what it counts in memory alone begins there. */
  readonly awakeSinceMs: number;
  readonly ready: number;
  readonly delayed: number;
  readonly leased: number;
  readonly backlogBytes: number;
  readonly oldestMessageTimestampMs: number;
  /** Rows written and read by this object since it started: what Cloudflare bills. */
  readonly rowsWritten: number;
  readonly rowsRead: number;
  /** Damage that was found, oldest first; empty in a healthy queue. */
  readonly damage: readonly QueueDamage[];
  /** How delivery goes; `null` for a queue that is not delivered to anybody. */
  readonly consumer: ConsumerHealth | null;
  /** The latest task that moves messages out of it; `null` if there was none. */
  readonly lastMove: MoveTask | null;
}

/** How deliveries to a queue's consumer go, as far as its object remembers: since it was started. */
export interface ConsumerHealth {
  /** Whether somebody is there, as far as is known: the last delivery was taken, or a question since then answered. */
  readonly isPresent: boolean;
  /** Deliveries that are under way. */
  readonly inFlight: number;
  /** Deliveries since the last one that went well. One that nobody took counts too, though not for its messages. */
  readonly consecutiveFailures: number;
  /** The delivery that ended last; `failure` says why it went wrong, `null` if it did not. */
  readonly lastDelivery: { readonly endedMs: number; readonly failure: string | null } | null;
  /** What comes next if nothing is sent; `null` when nothing waits, delivery is paused or every slot is taken. */
  readonly next: NextDelivery | null;
}

/**
 * What a queue waits for before it delivers again.
 *
 * - `return`: nobody was there. The consumer is asked at that time whether it is back.
 * - `slot`: messages could go out, and the queue's rate lets the next one out at that time.
 * - `due`: the next message, or the next batch, is due at that time: after a delay, before another attempt, or at once.
 */
export interface NextDelivery {
  readonly waitsFor: "return" | "slot" | "due";
  readonly atMs: number;
}

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

/** What a handler did with its batch; field for field what workerd's own dispatch reports (spec cloudflare-queues 2.8). */
export interface DeliveryResult extends HandlerCalls {
  /** `ok` or `exception`; the broker adds `exceededWallTime`. */
  readonly outcome: string;
  /** First line of what the handler threw, for the log. */
  readonly error?: string;
}

/** What the broker calls on a consumer Worker's generated entrypoint. */
export interface QueueConsumerRpc {
  /** Runs the user's `queue()` handler. Never rejects because of what the handler does. */
  deliver(delivery: Delivery): Promise<DeliveryReply>;
  /**
   * What the handler of a delivery that has no result has called so far: the platform ends a handler that hangs, and its
   * acknowledgements must not go with it. Once for each delivery; `null` when the isolate that ran it is not this one.
   */
  callsOf(deliveryId: string): Promise<HandlerCalls | null>;
  /** Answers if the Worker runs at all: tells a crash from an absence. */
  ping(): Promise<"pong">;
}

import type { QueueDefinition } from "@sluice/protocol";

/** Recipient of the messages of a queue, as far as its object knows. */
export type Deliverer =
  /**
   * No consumer. `expected` is the one of the queue's settings, which this broker cannot call. `configured` is the
   * Worker that the configuration names.
   */
  | { readonly kind: "none"; readonly expected: string | null; readonly configured: string | null }
  /** Clients that pull or receive. `askedMs` is the time of the latest, `null` for none since the object started. */
  | { readonly kind: "clients"; readonly askedMs: number | null }
  | PushDeliverer
  | DaemonDeliverer;

/** Worker or HTTP endpoint that batches are delivered to. */
export interface PushDeliverer {
  readonly kind: "push";
  readonly name: string;
  /** Time in ms before which nothing is delivered to it, after a Worker has crashed the process; `null` if not held. */
  readonly heldUntilMs: number | null;
  /** Time in ms at which it is probed again; `null` while it answers. */
  readonly askedAgainMs: number | null;
  /** Reason for which it may not be called; `null` if it may. */
  readonly notCalledReason: string | null;
  /** State of the single delivery with which it proves that it is back; `null` without one. */
  readonly trial: "due" | "running" | null;
}

/** Application that a worker daemon posts messages to. */
export interface DaemonDeliverer {
  readonly kind: "daemon";
  readonly name: string;
  /** Number of connections without a request. */
  readonly free: number;
  /** Time in ms before which it begins no request. */
  readonly drainedUntilMs: number;
}

/** Conditions outside the engine that decide whether a queue delivers messages. Times in ms. */
export interface Conditions {
  readonly queue: string;
  readonly nowMs: number;
  readonly definition: QueueDefinition | undefined;
  readonly deliverer: Deliverer;
  /** Number of messages that the queue's rate lets out now; `Infinity` without a rate. */
  readonly room: number;
  /** Whether the queue has a rate. */
  readonly isThrottled: boolean;
  /** Time at which the rate lets the next message out. */
  readonly nextSlotMs: number;
}

import type { QueueDefinition } from "@sluice/protocol";

/** Recipient of the messages of a queue, as far as its object knows. */
export type Deliverer =
  /** Nobody. `expected` is the consumer that the queue is set to and that this broker has no way to. */
  | { readonly kind: "nobody"; readonly expected: string | null }
  /** Clients that pull or receive. `askedMs` is when one has done so last, `null` for not since the object started. */
  | { readonly kind: "clients"; readonly askedMs: number | null }
  | PushDeliverer
  | DaemonDeliverer;

/** A Worker or an HTTP endpoint that batches are delivered to. */
export interface PushDeliverer {
  readonly kind: "push";
  readonly name: string;
  /** Until when nothing is delivered to it since a Worker has ended the process; `null` where that is not so. */
  readonly heldUntilMs: number | null;
  /** While it does not answer: when it is asked again, in ms. */
  readonly askedAgainMs: number | null;
  /** Why it is not called meanwhile; `null` where it is. */
  readonly notCalledReason: string | null;
  /** A consumer that is back proves itself with one delivery: whether that is still to come, or runs. */
  readonly trial: "due" | "running" | null;
}

/** An application that a worker daemon posts messages to. */
export interface DaemonDeliverer {
  readonly kind: "daemon";
  readonly name: string;
  /** Connections without a request. */
  readonly free: number;
  /** It begins no request before, in ms. */
  readonly drainedUntilMs: number;
}

/** Conditions, beside the engine's state, that decide whether messages of a queue leave. Times in ms. */
export interface Conditions {
  readonly queue: string;
  readonly nowMs: number;
  /** When the queue's object started: what it knows of others begins there. */
  readonly awakeSinceMs: number;
  readonly definition: QueueDefinition | undefined;
  readonly deliverer: Deliverer;
  /** Messages that the queue's rate lets out now; `Infinity` where it has none. */
  readonly room: number;
  /** Whether the queue has a rate. */
  readonly isThrottled: boolean;
  /** When the rate lets the next message out. */
  readonly nextSlotMs: number;
}

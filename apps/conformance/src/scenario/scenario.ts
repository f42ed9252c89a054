import type { RowHead } from "./row.ts";

/*
 * A scenario is a piece of an ordinary Cloudflare Queues project with its expected outcome. `send` runs in a producer
 * Worker, `handle` in a consumer Worker and `observe` in Node.js, so these files import nothing that only one of these
 * has.
 */

/** Producer Workers: `sender` has today's compatibility date, `old-sender` one before every flag about queues. */
type SenderName = "sender" | "old-sender";
/** Consumer Workers. */
export type ReceiverName =
  | "receiver"
  /** With the flag `queue_consumer_no_wait_for_wait_until`. */
  | "receiver-no-wait"
  /** With a class as its default export. */
  | "receiver-class"
  /** Without a `queue` handler. */
  | "receiver-no-handler";

/** Keys of `[[queues.consumers]]`, as Wrangler spells them. */
export interface ConsumerKeys {
  readonly max_batch_size?: number;
  readonly max_batch_timeout?: number;
  readonly max_retries?: number;
  readonly max_concurrency?: number;
  readonly retry_delay?: number;
  readonly dead_letter_queue?: string;
}

/** Queue of a scenario. */
export interface QueueSpec {
  /** `null` for a queue without a consumer. */
  readonly consumer: ConsumerKeys | null;
  /** Default: `receiver`. */
  readonly receiver?: ReceiverName;
  /** `delivery_delay` of the producer's binding, in seconds. */
  readonly deliveryDelay?: number;
  /** Default: see `queueName`. Scenarios that name the same queue share it. */
  readonly name?: string;
}

/** Batch that the consumer Worker saw in one call of its handler. */
export interface SeenBatch {
  readonly queue: string;
  /** Time of the handler's call, in ms since 1970. */
  readonly atMs: number;
  /** Time of the handler's end, in ms since 1970; absent while it runs. */
  endedAtMs?: number;
  readonly messages: readonly SeenMessage[];
  /** Values that the scenario's handler noted. */
  readonly notes: unknown[];
}

export interface SeenMessage {
  readonly id: string;
  readonly timestampMs: number;
  readonly attempts: number;
  /** The body as text: `text "a"`, `Uint8Array 1,2`. */
  readonly body: string;
}

/** Observation of a scenario in a system. */
export interface Observation {
  /** Value that `send` returned, through JSON. */
  readonly sent: unknown;
  /** Batches in the order in which they came, of all queues of the scenario. */
  readonly batches: readonly SeenBatch[];
  /** Text that the system has printed, colours removed. */
  readonly log: string;
  /** Value that `afterRestart` returned, through JSON. */
  readonly found: unknown;
}

/** Tools that a handler has besides its batch. */
export interface HandlerTools {
  readonly ctx: { waitUntil(promise: Promise<unknown>): void };
  /** Number of this delivery among those of its queue, from 1. */
  readonly delivery: number;
  /** Puts something into the batch's `notes`. It goes through JSON. */
  note(value: unknown): void;
}

// biome-ignore lint/suspicious/noExplicitAny: scenarios call the binding in ways that its types forbid.
export type AnyQueue = any;

export interface Scenario extends RowHead {
  /** Queues by their names in the argument of `send`. */
  readonly queues: Readonly<Record<string, QueueSpec>>;
  /** Default: `sender`. */
  readonly sender?: SenderName;
  send(queues: Readonly<Record<string, AnyQueue>>, env: Readonly<Record<string, AnyQueue>>): Promise<unknown>;
  /** Handles a batch. Default: returns, which acknowledges it. */
  handle?(batch: MessageBatch, tools: HandlerTools): unknown;
  /** Looks at the queues after the system was started again over the same state. Runs in the producer Worker. */
  afterRestart?(queues: Readonly<Record<string, AnyQueue>>): Promise<unknown>;
  /** Shortest time for which it is watched, in ms, for things that must not happen. Default: 0. */
  readonly watchMs?: number;
  /** Result of `observe` in production. A system gets `PATIENCE_MS` after `send` to come to it. */
  readonly expected: string;
  /** Describes what has happened in a few words, the same in every run; `null` if nothing has. */
  observe(observation: Observation): string | null;
}

/** Longest time until a scenario has its expected outcome, in ms. */
export const PATIENCE_MS = 20_000;

/** Makes the name of a scenario's queue in the configurations. */
export function queueName(scenario: Pick<Scenario, "id">, key: string, spec: QueueSpec): string {
  return spec.name ?? (key === "q" ? scenario.id : `${scenario.id}-${key}`);
}

/** Makes the name of the binding of a queue, or of a Worker. */
export function bindingName(queue: string): string {
  return queue.replaceAll("-", "_").toUpperCase();
}

/** Makes a text of a call's result: a string as it is, another value as JSON, or the error. */
export async function outcome(call: () => unknown): Promise<string> {
  try {
    const value = await call();
    return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
  } catch (error) {
    return String(error);
  }
}

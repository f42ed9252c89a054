/** A time in seconds, or a number with its unit: `30`, `"90s"`, `"5m"`, `"12h"`, `"3d"`. */
export type Span = number | `${number}${"s" | "m" | "h" | "d"}`;

/**
 * State of a message.
 *
 * - `stored`: it waits for its first delivery. `delivered`: it is with a consumer, or with a client that received it.
 * - `retried`: it waits for another delivery.
 * - `acked`: it is handled, and gone. `expired`: it is gone because its queue keeps messages no longer, or because it
 *   was deleted.
 * - `dead`: out of retries. It is in the dead-letter queue, or gone where there is none.
 */
export type State = "stored" | "delivered" | "acked" | "retried" | "dead" | "expired";

/** One thing that happened to a message. */
export interface StoryEvent {
  /** By the virtual clock. */
  readonly at: Date;
  readonly what: State;
  /** The queue that it happened in. */
  readonly queue: string;
  /** Deliveries in that queue so far, the one at hand included: 0 before the first. */
  readonly attempt: number;
  /** Which of `batches()` it was delivered in, counted from 0. */
  readonly batch?: number;
  /** Seconds until it is due again, or was due first. */
  readonly delay?: number;
  /** Error that its handler has thrown, with the stack. */
  readonly error?: string;
}

/** Events of a message, oldest first, in all queues that it was in. */
export interface Story<B = unknown> {
  readonly id: string;
  /** The queue that it was sent to. */
  readonly queue: string;
  readonly body: B;
  /** As of the last event. A dead letter is `dead` until something happens to it in its dead-letter queue. */
  readonly state: State;
  readonly events: readonly StoryEvent[];
}

/** A batch as it was given to a consumer. */
export interface Batch<B = unknown> {
  readonly queue: string;
  readonly at: Date;
  /** The Worker, the HTTP endpoint, or the kind of client. */
  readonly consumer: string;
  readonly messages: readonly { readonly id: string; readonly body: B; readonly attempt: number }[];
}

/** Summary of what happened while the clock was moved. Counts are of messages. */
export interface Progress {
  readonly delivered: number;
  readonly acked: number;
  readonly retried: number;
  readonly dead: number;
  /** When something is due next; `null` if nothing is. */
  readonly nextDue: Date | null;
  /** Errors that handlers have thrown. */
  readonly errors: readonly DeliveryError[];
}

/** An error that a delivery has ended with. Its name, message and stack are those that the handler has thrown. */
export interface DeliveryError extends Error {
  readonly queue: string;
  /** The Worker, the HTTP endpoint, or the kind of client. */
  readonly consumer: string;
}

/** Result of a `scheduled()` handler and of the promises that it gave to `ctx.waitUntil`. */
export interface ScheduledResult {
  readonly outcome: "ok" | "exception";
  /** Errors that they have thrown, as they were thrown there. */
  readonly errors: readonly Error[];
}

/** A message that is in a queue. */
export interface WaitingMessage<B = unknown> {
  readonly id: string;
  readonly body: B;
  readonly state: "ready" | "delayed" | "leased";
  /** Deliveries so far. */
  readonly attempts: number;
  /** When it is due; `null` while it is leased. */
  readonly dueAt: Date | null;
}

/** A message that its queue has given up. */
export interface DeadLetter<B = unknown> {
  readonly id: string;
  readonly body: B;
  readonly at: Date;
  readonly attempts: number;
  /** Why, with the stack of what was thrown last. */
  readonly error: string;
  /** The dead-letter queue that it is moved to; `null` where there is none, and it is gone. */
  readonly to: string | null;
}

/** A message that was pulled. */
export interface PulledMessage<B = unknown> {
  readonly id: string;
  readonly body: B;
  readonly attempts: number;
  /** Id of the lease, which `ack` takes. */
  readonly leaseId: string;
}

export interface SendOptions {
  /** Default `json`. */
  readonly contentType?: "json" | "text" | "bytes" | "v8";
  /** 0 to 86,400. Default: the queue's. */
  readonly delaySeconds?: number;
}

/** One queue, as its clients see it, whoever consumes it. */
export interface QueueHandle<B = unknown> {
  /** Sends a message, at most 128,000 bytes. Rejects as the binding's `send` does. */
  send(body: B, options?: SendOptions): Promise<void>;
  /** Sends up to 100 messages, all or none. */
  sendBatch(
    messages: Iterable<{ body: B } & SendOptions>,
    options?: { delaySeconds?: number },
  ): Promise<void>;
  /**
   * Leases messages as an HTTP pull consumer. Rejects for a queue whose consumer is a Worker or an endpoint.
   *
   * @param options `batchSize`: 1 to 100, default 5. `visibilityTimeout`: default the queue's, 30 s.
   */
  pull(options?: { batchSize?: number; visibilityTimeout?: Span }): Promise<PulledMessage<B>[]>;
  /** Acknowledges what was pulled, or has it retried after a delay. */
  ack(
    acks: readonly Pick<PulledMessage, "leaseId">[],
    retries?: readonly { readonly leaseId: string; readonly delaySeconds?: number }[],
  ): Promise<void>;
  /** Lists the messages that are in the queue now: 1,000 at most. */
  messages(): Promise<WaitingMessage<B>[]>;
  /** Lists the messages that this queue has given up, oldest first, wherever they are now. */
  deadLetters(): Promise<DeadLetter<B>[]>;
}

/** A Worker of a runtime, by its configuration file or the folder of that. */
export interface TestedWorker {
  readonly config: string;
  /** Environment of the configuration. All Workers run in one. */
  readonly env?: string;
  /** Variables and secrets of this Worker alone, in the place of those of its configuration and of `vars`. */
  readonly vars?: Vars;
}

/** Variables and secrets by name: text, or whatever JSON holds. */
export type Vars = Readonly<Record<string, unknown>>;

export interface QueueRuntimeOptions {
  /** Configuration files of Workers, or their folders. The first one answers `fetch`. */
  readonly workers: readonly (string | TestedWorker)[];
  /** Folder that relative paths count from. Default: the current one. */
  readonly root?: string;
  /** Where the virtual clock begins. Default: now. */
  readonly start?: Date;
  /**
   * Time that `Date` has in Workers and Durable Objects: `"real"`, which is the default, or `"clock"`, the virtual one.
   * That one stands while a handler runs. `performance.now()`, timers, alarms, and expiry in KV and caches stay real.
   */
  readonly date?: "real" | "clock";
  /**
   * Variables and secrets of all Workers, in the place of those of their configurations and `.dev.vars`.
   *
   * ```ts
   * createQueueRuntime({ workers: ["./wrangler.toml"], vars: { API_URL: "https://mail.test", API_KEY: "none" } });
   * ```
   */
  readonly vars?: Vars;
  /**
   * Answers what Workers and Durable Objects request of others by `fetch`. What it throws is thrown there. Default:
   * such requests are refused with an error that has their URL. `"network"`: they go out.
   *
   * ```ts
   * createQueueRuntime({
   *   workers: ["./wrangler.toml"],
   *   outbound: async (request) => {
   *     sent.push(await request.json());
   *     return new Response(null, { status: 202 });
   *   },
   * });
   * ```
   */
  readonly outbound?: "network" | ((request: Request) => Promise<Response> | Response);
  /**
   * Answers the requests of queues with an HTTP endpoint, by the name of the queue. Those of queues that are not named
   * go where `outbound` says.
   */
  readonly push?: Readonly<Record<string, (request: Request) => Promise<Response> | Response>>;
  /**
   * How long a call waits while nothing happens, in ms of real time: no delivery begins or ends, and no request of a
   * Worker either. Then it rejects with what has not ended. Default 4,000, since Vitest ends a test after 5,000.
   */
  readonly timeoutMs?: number;
  /** Gets each line that Workers and broker print. Default: warnings and errors go to standard error. */
  readonly log?: (line: string, level: string) => void;
}

/** The user's Workers on a broker of their own, on a clock that stands until a test moves it. */
export interface QueueRuntime<E = Record<string, unknown>> extends AsyncDisposable {
  /** Bindings of all Workers by name, those of the first one first. Queues send to this broker. */
  readonly env: E;
  /** The virtual time. `Date` of Workers has it with the option `date: "clock"`. */
  readonly now: Date;
  /** Sends a request to the first Worker. A URL without a host goes to `http://localhost`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Calls a `scheduled()` handler as a cron trigger does. Resolves when the handler is done and all that it gave to
   * `ctx.waitUntil`.
   *
   * ```ts
   * const { outcome, errors } = await queues.scheduled({ cron: "0 3 * * *" });
   * ```
   *
   * @param event `cron`: the expression that the handler sees. `worker`: name of the Worker, default the first one.
   *   `scheduledTime`: default the virtual time.
   * @throws Error for a Worker that is not there or has no such handler.
   */
  scheduled(event: { cron: string; worker?: string; scheduledTime?: Date }): Promise<ScheduledResult>;
  /** A queue by its name. The first call that uses it rejects if there is none of that name. */
  queue<B = unknown>(name: string): QueueHandle<B>;
  /** The `QueueUrl` of a queue for SQS clients. Their endpoint is `new URL("..", url)`; any keys will do. */
  sqsUrl(queue: string): URL;
  /**
   * Moves the clock. What comes due on the way is delivered at its time, in order, and so is what that causes. Resolves
   * when the clock is there and nothing is under way any more.
   *
   * @throws TypeError for a time that is none.
   * @throws Error after 10,000 deliveries: something sends to itself.
   */
  advance(by: Span): Promise<Progress>;
  /**
   * Moves the clock from due time to due time until nothing is left to be delivered. Neither a lease nor the end of a
   * retention period is waited for.
   *
   * @param options `limit`: deliveries after which it gives up, default 10,000. `until`: furthest that it goes, default
   *   31 days. `throwErrors`: rejects with what a handler has thrown, default false.
   */
  runUntilIdle(options?: { limit?: number; until?: Span; throwErrors?: boolean }): Promise<Progress>;
  /**
   * Resolves with the first message that fits, also if that has happened before. Moves the clock as far as `within`
   * allows, which by default is not at all.
   *
   * @param options `within`: virtual time. `timeoutMs`: how long to wait in real time once nothing is due, default
   *   2,000.
   * @throws Error with what happened instead.
   */
  waitFor<B = unknown>(message: MessageMatch<B>, options?: WaitOptions): Promise<Story<B>>;
  /** Tells what happened to a message. Rejects for an id that nothing is known of. */
  story<B = unknown>(id: string): Promise<Story<B>>;
  /** Tells what happened to all messages, in the order of their sends. */
  stories<B = unknown>(): Promise<Story<B>[]>;
  /**
   * Batches as they were delivered so far: since the last call that waited for the broker.
   *
   * @throws Error for a queue that is not there.
   */
  batches<B = unknown>(queue?: string): Batch<B>[];
  /**
   * Begins anew: no messages, the clock where it began, Durable Objects, KV, D1 and R2 empty. Variables of modules stay
   * as they are. After a call that has waited in vain it starts the Workers anew, which ends what hangs: take bindings
   * from `env` after it.
   */
  reset(): Promise<void>;
}

export interface MessageMatch<B = unknown> {
  /** Default: any. */
  readonly queue?: string;
  /** Members that the body has, or a function that says whether it is the one. Default: any. */
  readonly body?: Partial<B> | ((body: B) => boolean);
  readonly state: State;
}

export interface WaitOptions {
  readonly within?: Span;
  readonly timeoutMs?: number;
}

export const FAULT_KINDS = [
  "duplicate",
  "reorder",
  "split",
  "throwAfter",
  "lostAck",
  "crash",
  "lateRetry",
  "endBefore",
  "endAfter",
] as const;

/**
 * Kind of a fault.
 *
 * - `duplicate`: the handler gets the message once more by itself, after its batch.
 * - `reorder`: the message comes last in its batch, or `arg` seconds later. `split`: its batch comes in two.
 * - `throwAfter`: the handler ends with an exception at the moment that it acknowledges or retries the message, or at
 *   its end. `crash`: the same, and nothing that it has acknowledged counts.
 * - `lostAck`: the handler is done, and the acknowledgement of the message does not arrive.
 * - `lateRetry`: the message comes back `arg` seconds later than the handler or the queue says.
 * - `endBefore`, `endAfter`: the handler ends before or after its call number `arg` of a binding of `env` or of `fetch`,
 *   as if its isolate were taken away there. Calls count from 1 over the whole batch. That one and all later ones never
 *   settle for it, and nothing that it has acknowledged counts.
 */
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Faults that end the handler at one of its calls. */
export type EndingFault = Extract<FaultKind, "endBefore" | "endAfter">;

/** One thing that goes wrong, at a delivery of a message. */
export interface Fault {
  readonly kind: FaultKind;
  /** The n-th message that is sent, from 1. */
  readonly message: number;
  /** Its n-th delivery, from 1, over all queues. */
  readonly attempt: number;
  /**
   * Seconds, by default 0 for `reorder` and 60 for `lateRetry`; a call for `endBefore` and `endAfter`, by default 1.
   */
  readonly arg?: number;
}

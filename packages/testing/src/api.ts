/** Duration in seconds, or as a number with a unit: `30`, `"90s"`, `"5m"`, `"12h"`, `"3d"`. */
export type Span = number | `${number}${"s" | "m" | "h" | "d"}`;

/**
 * State of a message.
 *
 * - `stored`: it waits for its first delivery.
 * - `delivered`: a consumer, or a client that received it, has it.
 * - `retried`: it waits for another delivery.
 * - `acked`: it is handled and gone.
 * - `expired`: it is gone because its retention period has ended, or because it was deleted.
 * - `dead`: it has no retries left. It is in the dead-letter queue, or gone where there is none.
 */
export type State = "stored" | "delivered" | "acked" | "retried" | "dead" | "expired";

/** Event of a message. */
export interface StoryEvent {
  /** Time of the event, by the virtual clock. */
  readonly at: Date;
  readonly what: State;
  /** Queue in which it happened. */
  readonly queue: string;
  /** Deliveries in that queue so far, with the current one: 0 before the first. */
  readonly attempt: number;
  /** Index in `batches()` of the batch that it was delivered in. */
  readonly batch?: number;
  /** Seconds until it is due again, or until its first delivery. */
  readonly delay?: number;
  /** Error that its handler threw, with the stack. */
  readonly error?: string;
}

/** Events of a message in all queues that it was in, oldest first. */
export interface Story<B = unknown> {
  readonly id: string;
  /** Queue that it was sent to. */
  readonly queue: string;
  readonly body: B;
  /** State after the last event. A dead letter is `dead` until its next event in the dead-letter queue. */
  readonly state: State;
  readonly events: readonly StoryEvent[];
}

/** A batch as a consumer got it. */
export interface Batch<B = unknown> {
  readonly queue: string;
  readonly at: Date;
  /** Name of the Worker, URL of the HTTP endpoint, or kind of client. */
  readonly consumer: string;
  readonly messages: readonly { readonly id: string; readonly body: B; readonly attempt: number }[];
}

/** Events while the clock was moved, as numbers of messages. */
export interface Progress {
  readonly delivered: number;
  readonly acked: number;
  readonly retried: number;
  readonly dead: number;
  /** Time of the next due message or batch; `null` if there is none. */
  readonly nextDue: Date | null;
  /** Errors that handlers threw. */
  readonly errors: readonly DeliveryError[];
}

/** Error that a delivery ended with. It has the name, message and stack of the error that the handler threw. */
export interface DeliveryError extends Error {
  readonly queue: string;
  /** Name of the Worker, URL of the HTTP endpoint, or kind of client. */
  readonly consumer: string;
}

/** Result of a `scheduled()` handler and of its promises in `ctx.waitUntil`. */
export interface ScheduledResult {
  readonly outcome: "ok" | "exception";
  /** Errors that they threw. */
  readonly errors: readonly Error[];
}

/** A message in a queue. */
export interface WaitingMessage<B = unknown> {
  readonly id: string;
  readonly body: B;
  readonly state: "ready" | "delayed" | "leased";
  /** Deliveries so far. */
  readonly attempts: number;
  /** Time at which it is due; `null` while it is leased. */
  readonly dueAt: Date | null;
}

/** A message without retries left. */
export interface DeadLetter<B = unknown> {
  readonly id: string;
  readonly body: B;
  readonly at: Date;
  readonly attempts: number;
  /** Reason, with the stack of the last error. */
  readonly error: string;
  /** Dead-letter queue that it moved to; `null` where there is none, and the message is gone. */
  readonly to: string | null;
}

/** A message that was pulled. */
export interface PulledMessage<B = unknown> {
  readonly id: string;
  readonly body: B;
  readonly attempts: number;
  /** Id of the lease, for `ack`. */
  readonly leaseId: string;
}

export interface SendOptions {
  /** Default: `json`. */
  readonly contentType?: "json" | "text" | "bytes" | "v8";
  /** Seconds before the first delivery, 0 to 86,400. Default: the queue's delay. */
  readonly delaySeconds?: number;
}

/** A queue, with the calls of its clients. */
export interface QueueHandle<B = unknown> {
  /** Sends a message of at most 128,000 bytes. Rejects like `send` of a binding. */
  send(body: B, options?: SendOptions): Promise<void>;
  /** Sends up to 100 messages, all or none. Rejects like `sendBatch` of a binding. */
  sendBatch(
    messages: Iterable<{ body: B } & SendOptions>,
    options?: { delaySeconds?: number },
  ): Promise<void>;
  /**
   * Leases messages like an HTTP pull consumer. Rejects where the queue's consumer is a Worker or an endpoint.
   *
   * @param options `batchSize`: 1 to 100, default 5. `visibilityTimeout`: default the queue's, 30 s.
   */
  pull(options?: { batchSize?: number; visibilityTimeout?: Span }): Promise<PulledMessage<B>[]>;
  /** Acknowledges pulled messages, or has them retried, each after a delay in seconds. */
  ack(
    acks: readonly Pick<PulledMessage, "leaseId">[],
    retries?: readonly { readonly leaseId: string; readonly delaySeconds?: number }[],
  ): Promise<void>;
  /** Lists the messages in the queue now, at most 1,000. */
  messages(): Promise<WaitingMessage<B>[]>;
  /** Lists the messages that ran out of retries in this queue, oldest first, wherever they are now. */
  deadLetters(): Promise<DeadLetter<B>[]>;
}

/** A Worker of a runtime: its configuration file, or that file's folder. */
export interface TestedWorker {
  readonly config: string;
  /** Environment of the configuration, the same for all Workers. */
  readonly env?: string;
  /** Variables and secrets of this Worker, which override those of its configuration and of the runtime's `vars`. */
  readonly vars?: Vars;
}

/** Variables and secrets by name: text, or any JSON value. */
export type Vars = Readonly<Record<string, unknown>>;

export interface QueueRuntimeOptions {
  /** Configuration files of Workers, or their folders. The first Worker answers `fetch`. */
  readonly workers: readonly (string | TestedWorker)[];
  /** Base folder of relative paths. Default: the current folder. */
  readonly root?: string;
  /** Start of the virtual time. Default: now. */
  readonly start?: Date;
  /**
   * Time of `Date` in Workers and Durable Objects: `"real"`, the default, or `"clock"`, the virtual time, which does
   * not pass while a handler runs. `performance.now()`, timers, alarms, and expiry in KV and caches stay real.
   */
  readonly date?: "real" | "clock";
  /**
   * Variables and secrets of all Workers, which override those of their configurations and `.dev.vars`.
   *
   * ```ts
   * createQueueRuntime({ workers: ["./wrangler.toml"], vars: { API_URL: "https://mail.test", API_KEY: "none" } });
   * ```
   */
  readonly vars?: Vars;
  /**
   * Answers requests that Workers and Durable Objects send by `fetch`. An error that it throws is thrown there.
   * Default: such a request fails with an error that names its URL. `"network"`: it is sent.
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
   * Answers the requests to a queue's HTTP endpoint, by the name of the queue. Requests of other queues go to
   * `outbound`.
   */
  readonly push?: Readonly<Record<string, (request: Request) => Promise<Response> | Response>>;
  /**
   * Time in ms of real time after which a call rejects because nothing happens: no delivery and no request of a Worker
   * begins or ends. The error names what has not ended. Default: 4,000, since Vitest ends a test after 5,000.
   */
  readonly timeoutMs?: number;
  /**
   * Receives each line that Workers and broker print. Default: warnings and errors go to standard error, all else to
   * standard output, without the broker's lines about successful deliveries, and of `explore` only the lines of the
   * history that it reports. `() => {}` shows nothing.
   */
  readonly log?: (line: string, level: string) => void;
}

/** The user's Workers on their own broker, with a clock that stands until a test moves it. */
export interface QueueRuntime<E = Record<string, unknown>> extends AsyncDisposable {
  /** Bindings of all Workers by name; those of the first Worker take precedence. Queues send to this broker. */
  readonly env: E;
  /** Virtual time. `Date` in Workers follows it with the option `date: "clock"`. */
  readonly now: Date;
  /** Sends a request to the first Worker. A URL without a host goes to `http://localhost`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Calls a `scheduled()` handler like a cron trigger. Resolves when the handler and its promises in `ctx.waitUntil`
   * are done.
   *
   * ```ts
   * const { outcome, errors } = await queues.scheduled({ cron: "0 3 * * *" });
   * ```
   *
   * @param event `cron`: the expression that the handler sees. `worker`: name of the Worker, default the first one.
   *   `scheduledTime`: default the virtual time.
   * @throws Error for a missing Worker, or one without the handler.
   */
  scheduled(event: { cron: string; worker?: string; scheduledTime?: Date }): Promise<ScheduledResult>;
  /** Returns a queue by its name. The first use rejects if there is no such queue. */
  queue<B = unknown>(name: string): QueueHandle<B>;
  /** Returns the `QueueUrl` of a queue for SQS clients. Their endpoint is `new URL("..", url)`, with any access key. */
  sqsUrl(queue: string): URL;
  /**
   * Moves the clock. Messages that become due on the way are delivered at their time, in order, and so are those that
   * these deliveries send. Resolves when the clock has arrived and nothing is under way.
   *
   * @param by distance in virtual time.
   * @throws TypeError for an invalid duration.
   * @throws Error after 10,000 deliveries, which mean a loop of sends.
   */
  advance(by: Span): Promise<Progress>;
  /**
   * Moves the clock from due time to due time until nothing is left to deliver. It does not wait for the end of leases
   * or of retention periods.
   *
   * @param options `limit`: deliveries after which it rejects, default 10,000. `until`: furthest move of the clock,
   *   default 31 days. `throwErrors`: whether to reject with errors of handlers, default false.
   */
  runUntilIdle(options?: { limit?: number; until?: Span; throwErrors?: boolean }): Promise<Progress>;
  /**
   * Resolves with the first message that matches, even if that happened before. Moves the clock by at most `within`, by
   * default not at all.
   *
   * ```ts
   * await queues.waitFor({ queue: "orders", body: { id: 7 }, state: "acked" }, { within: "12h" });
   * ```
   *
   * @param options `within`: virtual time. `timeoutMs`: longest wait in ms of real time once nothing is due, default
   *   2,000.
   * @throws Error with the messages that there were instead.
   */
  waitFor<B = unknown>(message: MessageMatch<B>, options?: WaitOptions): Promise<Story<B>>;
  /** Returns the story of a message. Rejects for an unknown id. */
  story<B = unknown>(id: string): Promise<Story<B>>;
  /** Returns the stories of all messages, in the order of their sends. */
  stories<B = unknown>(): Promise<Story<B>[]>;
  /**
   * Returns the batches delivered so far, up to the last call that waited for the broker.
   *
   * @param queue name of the queue. Default: all queues.
   * @throws Error for a queue that does not exist.
   */
  batches<B = unknown>(queue?: string): Batch<B>[];
  /**
   * Empties everything: queues, Durable Objects, KV, D1 and R2, with the clock back at its start. Variables of modules
   * stay as they are. After a call that timed out it restarts the Workers, which ends hanging handlers: read bindings
   * from `env` again then.
   */
  reset(): Promise<void>;
}

export interface MessageMatch<B = unknown> {
  /** Default: any queue. */
  readonly queue?: string;
  /** Members that the body has, or a function that recognizes it. Default: any body. */
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
 * - `duplicate`: the handler gets the message alone once more, after its batch.
 * - `reorder`: the message comes last in its batch, or `arg` seconds later.
 * - `split`: its batch comes in two parts.
 * - `throwAfter`: the handler throws when it acknowledges or retries the message, or at its end.
 * - `crash`: like `throwAfter`, and none of the handler's acknowledgements counts.
 * - `lostAck`: the handler is done, but the acknowledgement of the message is lost.
 * - `lateRetry`: the message comes back `arg` seconds later than the handler or the queue says.
 * - `endBefore`, `endAfter`: the handler ends before or after its call number `arg` of a binding of `env` or of
 *   `fetch`, as if its isolate were destroyed. Calls count from 1 over the whole batch. This call and later ones never
 *   settle, and none of the handler's acknowledgements counts.
 */
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Faults that end the handler at one of its calls. */
export type EndingFault = Extract<FaultKind, "endBefore" | "endAfter">;

/** A fault at a delivery of a message. */
export interface Fault {
  readonly kind: FaultKind;
  /** Number of the message in the order of sends, from 1. */
  readonly message: number;
  /** Number of its delivery over all queues, from 1. */
  readonly attempt: number;
  /**
   * Seconds, by default 0 for `reorder` and 60 for `lateRetry`; number of the call, by default 1, for `endBefore` and
   * `endAfter`.
   */
  readonly arg?: number;
}

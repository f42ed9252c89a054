import type { KeepAlive } from "@sluice/coalesce";
import {
  type BacklogMetrics,
  illegalInvocation,
  inSpan,
  isObject,
  isQueueNotFound,
  PROTOCOL_VERSION,
  type QueueBrokerRpc,
  type QueuePostRpc,
  type RpcFailure,
  readMetricsText,
  type SendReply,
  type SendRequest,
  type SpanTracing,
  serializeBody,
  TRACE_OPTION,
  toDelaySeconds,
  toOptions,
} from "@sluice/protocol";
import { readBatch, serializeBatch } from "./batch-messages.ts";
import { sendContentType, toContentTypeName } from "./content-type-names.ts";
import {
  failureError,
  NO_ANSWER,
  notFound,
  OVERLOADED,
  type ProducerMethod,
  STORAGE_FULL,
} from "./failure.ts";
import { measure, type OutgoingMessage } from "./outgoing.ts";
import { refuseBatch, refuseCount, refuseMessage } from "./refusals.ts";
import { SendBatcher } from "./send-batcher.ts";
import { SharedSends } from "./shared-sends.ts";
import { activeTraceExtension, traceExtension } from "./trace-extension.ts";

/** Name of the span of a send, as of the runtime's own binding. */
const SEND_SPAN = "queue_send";

/** The part of the broker that a producer calls. */
export type ProducerBroker = QueuePostRpc & Pick<QueueBrokerRpc, "metrics">;

/** Options of `send` and `sendBatch`, with one of ours. */
type WithTrace<Options> = Options & { readonly [TRACE_OPTION]?: unknown };

export interface QueueProducerOptions {
  /** Name of the queue. */
  readonly queue: string;
  /** Name of the Worker, for the queue's history. Default: the history names no sender. */
  readonly worker?: string | undefined;
  /** Finds the queue's Durable Object. Called for every RPC, since a stub must not outlive the request that made it. */
  readonly broker: () => ProducerBroker;
  /** Flag `queue_expose_error_codes`: how failures read (spec cloudflare-queues 1.8). */
  readonly exposeErrorCodes: boolean;
  /** Content type of a message that names none: `json` with the flag `queues_json_messages`, else `v8` (1.2). */
  readonly defaultContentType: "json" | "v8";
  /** The binding's `delivery_delay`, in seconds, 0 to 86,400. Default: the queue's. */
  readonly deliveryDelaySeconds?: number | undefined;
  /**
   * `waitUntil` of `cloudflare:workers`, where requests may share calls to the broker; absent, each makes its own. They
   * may with the flag `handle_cross_request_promise_resolution`, in a Worker without Durable Objects of its own.
   */
  readonly keepAlive?: KeepAlive | undefined;
  /** Names the calls in the traces of the Worker. Default: they are calls to a Durable Object there. */
  readonly tracing?: SpanTracing | undefined;
}

/**
 * Base class of objects that the runtime does not copy: `structuredClone(env.ORDERS)` throws the `DataCloneError` of
 * the binding, because each instance is an object of the runtime's own. It is made as an `EventTarget` and has nothing
 * else of one.
 */
const Uncopied = function (): object {
  return Reflect.construct(EventTarget, [], new.target);
} as unknown as { new (): Record<never, never>; prototype: object };
Uncopied.prototype = Object.prototype;

/**
 * The `Queue` binding, `env.ORDERS` (spec cloudflare-queues 1). What it throws, when, and in which words is what
 * workerd's own `WorkerQueue` does; the tests run both. The one deliberate difference: a `json` body that JSON cannot
 * express is refused instead of being stored as the text `undefined`.
 */
export class QueueProducer<Body = unknown> extends Uncopied {
  /** The binding's name, even if a bundler renames this class: Workers in Rust take nothing else for a queue. */
  static override readonly name = "WorkerQueue";

  // As the binding prints. A getter would not be asked when the runtime names what it does not copy.
  static {
    Object.defineProperty(QueueProducer.prototype, Symbol.toStringTag, {
      value: "WorkerQueue",
      configurable: true,
    });
  }

  readonly #options: QueueProducerOptions;
  readonly #batcher: SendBatcher;

  constructor(options: QueueProducerOptions) {
    super();
    this.#options = options;
    const send = (requests: readonly SendRequest[]) => this.#call((broker) => this.#sendTo(broker, requests));
    const { keepAlive } = options;
    const shared = keepAlive === undefined ? null : new SharedSends(send, keepAlive);
    this.#batcher = new SendBatcher(
      shared === null ? send : (requests) => this.#orNoAnswer(shared.send(requests)),
    );
  }

  /**
   * Reads the backlog: messages that wait, their bytes, and the send time of the oldest (spec cloudflare-queues 1.1).
   *
   * @throws Error 10104 for a queue that does not exist, 15000 when the broker does not answer.
   */
  metrics(): Promise<QueueMetrics> {
    QueueProducer.#requireProducer(this);
    return this.#metrics();
  }

  /**
   * Sends one message and resolves when it is stored (spec cloudflare-queues 1.1 to 1.6). With `contentType: "bytes"`
   * the buffer behind the view is detached.
   *
   * @param args body, at most 128,000 bytes; options: `contentType`, default the binding's, and `delaySeconds`, 0 to
   *   86,400, default the binding's, then the queue's.
   * @throws TypeError in the binding's words for what cannot be sent at all (1.3), Error for a message that is refused
   *   and for a broker that does not answer.
   */
  send(...args: [message: Body, options?: QueueSendOptions]): Promise<QueueSendResponse> {
    QueueProducer.#requireProducer(this);
    return this.#send(args);
  }

  /**
   * Sends messages, all or none, and resolves when they are stored (spec cloudflare-queues 1.1 to 1.6).
   *
   * @param messages 1 to 100, at most 256,000 bytes together. The iterable is read to its end before anything is sent.
   * @param options `delaySeconds`, 0 to 86,400, for messages that name none. Default: the binding's, then the queue's.
   * @throws as `send`.
   */
  sendBatch(
    messages: Iterable<MessageSendRequest<Body>>,
    options?: QueueSendBatchOptions,
  ): Promise<QueueSendBatchResponse> {
    QueueProducer.#requireProducer(this);
    return this.#sendBatch(messages, options);
  }

  /** Throws for a method that is called without its object; every other failure is a rejection. */
  static #requireProducer(self: unknown): void {
    if (!isObject(self) || !(#options in self)) throw illegalInvocation();
  }

  async #metrics(): Promise<QueueMetrics> {
    const reply = await this.#call(async (broker) => ({
      ok: true as const,
      metrics: await broker.metrics(this.#options.queue),
    }));
    return this.#success("metrics", reply);
  }

  async #send(args: readonly [message?: Body, options?: QueueSendOptions]): Promise<QueueSendResponse> {
    if (args.length === 0) {
      throw new TypeError("Failed to execute 'send' on 'WorkerQueue': parameter 1 is not of type 'Value'.");
    }
    const [value, givenOptions] = args;
    const options = toOptions<WithTrace<QueueSendOptions>>(
      givenOptions,
      refuseOptions("send", "SendOptions"),
    );
    const typeName = toContentTypeName(options.contentType);
    const delaySeconds = toDelaySeconds(options.delaySeconds);
    const extension = traceExtension(options[TRACE_OPTION]) ?? activeTraceExtension();
    if (value === undefined) throw new TypeError("Message body cannot be undefined");
    const contentType = sendContentType(typeName) ?? this.#options.defaultContentType;
    const body = serializeBody(value, contentType);
    const reply = this.#post("send", [{ contentType, body, delaySeconds, extension }], undefined);
    // Also for a message that is refused, as the binding does: it detaches before it sends.
    if (ArrayBuffer.isView(value) && contentType === "bytes") detach(value.buffer);
    return { metadata: { metrics: this.#success("send", await reply) } };
  }

  async #sendBatch(messages: unknown, givenOptions: unknown): Promise<QueueSendBatchResponse> {
    const items = readBatch(messages);
    const options = toOptions<WithTrace<QueueSendBatchOptions>>(
      givenOptions,
      refuseOptions("sendBatch", "SendBatchOptions"),
    );
    const delaySeconds = toDelaySeconds(options.delaySeconds);
    const extension = traceExtension(options[TRACE_OPTION]) ?? activeTraceExtension();
    const outgoing = serializeBatch(items, this.#options.defaultContentType, extension);
    const reply = this.#post("sendBatch", outgoing, delaySeconds);
    return { metadata: { metrics: this.#success("sendBatch", await reply) } };
  }

  /** Checks the messages and copies the sender's bytes, both before it returns. */
  #post(
    method: "send" | "sendBatch",
    outgoing: readonly OutgoingMessage[],
    batchDelaySeconds: number | undefined,
  ): SendReply | Promise<SendReply> {
    const tooMany = refuseCount(outgoing.length);
    if (tooMany !== undefined) return tooMany;
    const { messages, sizes } = measure(outgoing);
    const refusal =
      method === "send" ? refuseMessage(messages, sizes) : refuseBatch(messages, sizes, batchDelaySeconds);
    return refusal ?? this.#batcher.add(messages, batchDelaySeconds ?? this.#options.deliveryDelaySeconds);
  }

  async #sendTo(broker: ProducerBroker, requests: readonly SendRequest[]): Promise<SendReply> {
    const { queue, worker, tracing } = this.#options;
    const reply = await inSpan(tracing, SEND_SPAN, { "cloudflare.queue.name": queue }, () =>
      broker.post(queue, requests, worker, PROTOCOL_VERSION),
    );
    return typeof reply === "string" ? { ok: true, metrics: readMetricsText(reply) } : reply;
  }

  #success(method: ProducerMethod, reply: SendReply): QueueMetrics {
    if (!reply.ok) throw failureError(method, reply, this.#options.exposeErrorCodes);
    return toQueueMetrics(reply.metrics);
  }

  /** Turns the loss of a shared call, which another request made, into a failure. */
  async #orNoAnswer(sent: Promise<SendReply>): Promise<SendReply> {
    try {
      return await sent;
    } catch (error) {
      console.error(`Sluice: the broker of queue "${this.#options.queue}" did not answer:`, error);
      return NO_ANSWER;
    }
  }

  /** Calls the broker and never rejects: the reason goes to the console, the caller gets production's wording. */
  async #call<Reply>(run: (broker: ProducerBroker) => Promise<Reply>): Promise<Reply | RpcFailure> {
    try {
      return await run(this.#options.broker());
    } catch (error) {
      if (isQueueNotFound(error)) return notFound(this.#options.queue);
      console.error(`Sluice: the broker of queue "${this.#options.queue}" did not answer:`, error);
      if (isStorageFull(error)) return STORAGE_FULL;
      return isOverload(error) ? OVERLOADED : NO_ANSWER;
    }
  }
}

function toQueueMetrics(metrics: BacklogMetrics): QueueMetrics {
  const { backlogCount, backlogBytes, oldestMessageTimestampMs } = metrics;
  if (oldestMessageTimestampMs === 0) return { backlogCount, backlogBytes };
  return { backlogCount, backlogBytes, oldestMessageTimestamp: new Date(oldestMessageTimestampMs) };
}

function refuseOptions(method: string, typeName: string): string {
  return `Failed to execute '${method}' on 'WorkerQueue': parameter 2 is not of type '${typeName}'.`;
}

/** Whether the platform failed a call because the commit of its object found no room. */
function isStorageFull(error: unknown): boolean {
  return String(error).includes("SQLITE_FULL");
}

/** Whether the platform failed a call because its object has too many requests waiting. */
function isOverload(error: unknown): boolean {
  return error instanceof Error && "overloaded" in error && error.overloaded === true;
}

/** Detaches memory if that is possible: shared memory and that of WebAssembly stays as it is. */
function detach(buffer: ArrayBufferLike): void {
  if (!(buffer instanceof ArrayBuffer)) return;
  try {
    buffer.transfer(0);
  } catch {
    // Memory of a WebAssembly.Memory cannot be transferred; the binding leaves it alone too.
  }
}

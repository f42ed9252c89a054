import {
  type BacklogMetrics,
  type Delivery,
  decodeBodies,
  decodeTrace,
  illegalInvocation,
  isObject,
  keepTraceContext,
  keptTraceContext,
  PackedIndex,
  type TraceContext,
} from "@sluice/protocol";
import type { BatchState } from "./batch-state.ts";
import { computed, constant, emptyClass, INSPECT, printedAs } from "./own-properties.ts";
import { QueueMessage, readRetryDelay } from "./queue-message.ts";

const Printed = emptyClass("QueueController");

const metadata = computed<QueueController>(function () {
  return QueueController.metadata(this);
});

const messages = computed<QueueController>(function () {
  return QueueController.messages(this);
});

/**
 * A batch as a handler gets it, the `MessageBatch` of the types (spec cloudflare-queues 2.1). Each access to `messages`
 * makes a new array of the same objects, as in production: a loop that takes messages out of `batch.messages` until it
 * is empty never ends.
 */
export class QueueController<Body = unknown> {
  /** The runtime's name, even if a bundler renames this class. */
  static readonly name = "QueueController";

  declare readonly metadata: MessageBatchMetadata;
  declare readonly queue: string;
  declare readonly messages: readonly QueueMessage<Body>[];
  readonly #state: BatchState;
  readonly #metrics: BacklogMetrics;
  readonly #messages: readonly QueueMessage<Body>[];
  readonly #trace: TraceContext | null;

  /** @throws BodyDecodeError, PackedFormatError for a batch that no handler can be given. */
  constructor({ queue, packed, attempts, metrics, trace }: Delivery, state: BatchState) {
    this.#state = state;
    this.#metrics = metrics;
    const index = new PackedIndex(packed);
    const bodies = decodeBodies(index);
    this.#messages = index.ids().map((id, i) => {
      const attempt = typeof attempts === "number" ? attempts : (attempts[i] ?? 1);
      const message = new QueueMessage<Body>(id, bodies[i] as Body, index.timestampMs(i), attempt, state);
      if (index.hasExtension(i)) keepTrace(message, index, i);
      return message;
    });
    const only = traceOfOnly(this.#messages);
    this.#trace = trace === undefined ? only : { ...only, traceparent: trace };
    Object.defineProperty(this, "metadata", metadata);
    Object.defineProperty(this, "queue", { ...constant(), value: queue });
    Object.defineProperty(this, "messages", messages);
  }

  static metadata(batch: QueueController): MessageBatchMetadata {
    return toMetadata(batch.#metrics);
  }

  /** Trace context of a handler's work on a batch; `null` where none is known, or where each message has its own. */
  static trace(batch: QueueController): TraceContext | null {
    return batch.#trace;
  }

  static messages(batch: QueueController): QueueMessage[] {
    return [...batch.#messages];
  }

  get [Symbol.toStringTag](): string {
    return "QueueController";
  }

  [INSPECT](): object {
    return printedAs(Printed, this);
  }

  /** Marks every message for another delivery that was not acknowledged before. Throws as `QueueMessage.retry`. */
  retryAll(options?: QueueRetryOptions): void {
    if (!isObject(this) || !(#state in this)) throw illegalInvocation();
    this.#state.retryAll(readRetryDelay(options, "retryAll", "QueueController"));
  }

  /** Marks every message as done that was not marked for another delivery before. */
  ackAll(): void {
    if (!isObject(this) || !(#state in this)) throw illegalInvocation();
    this.#state.ackAll();
  }
}

function keepTrace(message: QueueMessage, index: PackedIndex, i: number): void {
  const context = decodeTrace(index.extension(i).trace);
  if (context !== null) keepTraceContext(message, context);
}

function traceOfOnly(messages: readonly QueueMessage[]): TraceContext | null {
  const [only] = messages;
  return messages.length === 1 && only !== undefined ? keptTraceContext(only) : null;
}

/** Makes the batch's metadata, without a timestamp where no message waits (spec cloudflare-queues 2.1). */
function toMetadata(metrics: BacklogMetrics): MessageBatchMetadata {
  const { backlogCount, backlogBytes, oldestMessageTimestampMs } = metrics;
  if (oldestMessageTimestampMs === 0) return { metrics: { backlogCount, backlogBytes } };
  const oldestMessageTimestamp = new Date(oldestMessageTimestampMs);
  return { metrics: { backlogCount, backlogBytes, oldestMessageTimestamp } };
}

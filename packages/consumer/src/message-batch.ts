import {
  type BacklogMetrics,
  type Delivery,
  decodeBody,
  illegalInvocation,
  isObject,
  toDelaySeconds,
  toOptions,
  type UnpackedMessage,
  unpackMessages,
} from "@sluice/protocol";
import type { BatchState } from "./batch-state.ts";

/*
 * The objects that a handler gets (spec cloudflare-queues 2.1). Class names, own properties, their order and which of
 * them are made anew at every access are the runtime's: `console.log(batch)`, `{...message}` and code that changes
 * `batch.messages` must do here what they do in production. The tests compare.
 */

/** A message of a batch. Its id, body and attempts cannot be assigned, and its timestamp is a new Date every time. */
export class QueueMessage<Body = unknown> {
  declare readonly attempts: number;
  declare readonly body: Body;
  declare readonly timestamp: Date;
  declare readonly id: string;
  readonly #state: BatchState;

  constructor({ id, contentType, body, timestampMs }: UnpackedMessage, attempts: number, state: BatchState) {
    this.#state = state;
    Object.defineProperty(this, "attempts", constant(attempts));
    Object.defineProperty(this, "body", constant(decodeBody(body, contentType)));
    Object.defineProperty(
      this,
      "timestamp",
      computed(() => new Date(timestampMs)),
    );
    Object.defineProperty(this, "id", constant(id));
  }

  get [Symbol.toStringTag](): string {
    return "QueueMessage";
  }

  /**
   * Marks the message for another delivery, after `delaySeconds` if given: coerced as in `send()` (1.4).
   *
   * @throws TypeError for options that are no object and delays outside 32 bits.
   */
  retry(options?: QueueRetryOptions): void {
    if (!isObject(this) || !(#state in this)) throw illegalInvocation();
    this.#state.retry(this.id, readRetryDelay(options, "retry", "QueueMessage"));
  }

  /** Marks the message as done, whatever becomes of the others. */
  ack(): void {
    if (!isObject(this) || !(#state in this)) throw illegalInvocation();
    this.#state.ack(this.id);
  }
}

/** A batch. Its messages are the same objects at every access, in an array that is not. */
export class QueueController<Body = unknown> {
  declare readonly metadata: MessageBatchMetadata;
  declare readonly queue: string;
  declare readonly messages: readonly QueueMessage<Body>[];
  readonly #state: BatchState;

  /** @throws BodyDecodeError, PackedFormatError: then nobody can handle the batch. */
  constructor(delivery: Delivery, state: BatchState) {
    this.#state = state;
    const { queue, packed, attempts, metrics } = delivery;
    const messages = unpackMessages(packed).map(
      (message, i) => new QueueMessage<Body>(message, attemptsOf(attempts, i), state),
    );
    Object.defineProperty(
      this,
      "metadata",
      computed(() => toMetadata(metrics)),
    );
    Object.defineProperty(this, "queue", constant(queue));
    Object.defineProperty(
      this,
      "messages",
      computed(() => [...messages]),
    );
  }

  get [Symbol.toStringTag](): string {
    return "QueueController";
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

function constant(value: unknown): PropertyDescriptor {
  return { value, writable: false, enumerable: true, configurable: true };
}

function computed(get: () => unknown): PropertyDescriptor {
  return { get, enumerable: true, configurable: true };
}

function attemptsOf(attempts: Delivery["attempts"], i: number): number {
  return typeof attempts === "number" ? attempts : (attempts[i] ?? 1);
}

/** Zeros and an absent timestamp when the broker knows nothing (spec cloudflare-queues 2.1). */
function toMetadata(metrics: BacklogMetrics): MessageBatchMetadata {
  const { backlogCount, backlogBytes, oldestMessageTimestampMs } = metrics;
  if (oldestMessageTimestampMs === 0) return { metrics: { backlogCount, backlogBytes } };
  const oldestMessageTimestamp = new Date(oldestMessageTimestampMs);
  return { metrics: { backlogCount, backlogBytes, oldestMessageTimestamp } };
}

function readRetryDelay(options: unknown, method: string, className: string): number | undefined {
  const refusal = `Failed to execute '${method}' on '${className}': parameter 1 is not of type 'QueueRetryOptions'.`;
  return toDelaySeconds(toOptions<QueueRetryOptions>(options, refusal).delaySeconds);
}

import { illegalInvocation, isObject, toDelaySeconds, toOptions } from "@sluice/protocol";
import type { BatchState } from "./batch-state.ts";
import { computed, constant, emptyClass, INSPECT, printedAs } from "./own-properties.ts";

const Printed = emptyClass("QueueMessage");

const attempts = constant();
const body = constant();
const id = constant();
const timestamp = computed<QueueMessage>(function () {
  return new Date(QueueMessage.timestampMs(this));
});

/**
 * A message as a handler gets it (spec cloudflare-queues 2.1). Its class name, its properties, their order and what
 * becomes of changes to them are the runtime's; the tests compare.
 */
export class QueueMessage<Body = unknown> {
  /** The runtime's name, even if a bundler renames this class. */
  static readonly name = "QueueMessage";

  /** 1 on the first delivery. */
  declare readonly attempts: number;
  declare readonly body: Body;
  /** Time of the original send: a new Date at every access. */
  declare readonly timestamp: Date;
  declare readonly id: string;
  readonly #state: BatchState;
  readonly #timestampMs: number;

  constructor(messageId: string, decoded: Body, timestampMs: number, attempt: number, state: BatchState) {
    this.#state = state;
    this.#timestampMs = timestampMs;
    attempts.value = attempt;
    body.value = decoded;
    id.value = messageId;
    Object.defineProperty(this, "attempts", attempts);
    Object.defineProperty(this, "body", body);
    Object.defineProperty(this, "timestamp", timestamp);
    Object.defineProperty(this, "id", id);
    // The body belongs to the handler: no other reference to it may stay.
    body.value = undefined;
  }

  static timestampMs(message: QueueMessage): number {
    return message.#timestampMs;
  }

  get [Symbol.toStringTag](): string {
    return "QueueMessage";
  }

  [INSPECT](): object {
    return printedAs(Printed, this);
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

/** The delay that the options of a retry name, in seconds. */
export function readRetryDelay(options: unknown, method: string, className: string): number | undefined {
  const refusal = `Failed to execute '${method}' on '${className}': parameter 1 is not of type 'QueueRetryOptions'.`;
  return toDelaySeconds(toOptions<QueueRetryOptions>(options, refusal).delaySeconds);
}

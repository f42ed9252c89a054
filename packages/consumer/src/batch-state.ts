import type { HandlerCalls, RetryCall } from "@sluice/protocol";
import type { DeliveryLines } from "./logs/delivery-lines.ts";

/**
 * Acknowledgements and retries that a handler has asked for so far (spec cloudflare-queues 2.2). One state per batch;
 * messages with the same id share the calls about it.
 *
 * The first call about a message wins, a call about the whole batch does not undo an earlier one about a message, and a
 * call that comes too late has no effect but a warning in the runtime's own words.
 */
export class BatchState {
  readonly #warn: (message: string) => void;
  readonly #lines: DeliveryLines | null;
  readonly #acked = new Set<string>();
  readonly #retried = new Map<string, RetryCall>();
  #ackAll = false;
  #retryAll = false;
  #retryAllDelaySeconds: number | undefined;

  /** @param lines what the handler prints; `null` if it is not asked for. */
  constructor(warn: (message: string) => void, lines: DeliveryLines | null = null) {
    this.#warn = warn;
    this.#lines = lines;
  }

  ack(id: string): void {
    if (this.#ackAll) return;
    if (this.#retryAll) this.#warn(tooLate("ack()", "retryAll()", id));
    else if (this.#retried.has(id)) this.#warn(tooLate("ack()", "retry()", id));
    else this.#acked.add(id);
  }

  /** A later retry of the same message replaces an earlier one, its delay included. It may refine a `retryAll()`. */
  retry(id: string, delaySeconds: number | undefined): void {
    if (this.#ackAll) this.#warn(tooLate("retry()", "ackAll()", id));
    else if (this.#acked.has(id)) this.#warn(tooLate("retry()", "ack()", id));
    else this.#retried.set(id, this.#retryOf(id, delaySeconds));
  }

  ackAll(): void {
    if (this.#retryAll) this.#warn(tooLate("ackAll()", "retryAll()"));
    else this.#ackAll = true;
  }

  /** A later call keeps the delay of an earlier one unless it names its own. */
  retryAll(delaySeconds: number | undefined): void {
    if (this.#ackAll) {
      this.#warn(tooLate("retryAll()", "ackAll()"));
      return;
    }
    this.#retryAll = true;
    this.#retryAllDelaySeconds = delaySeconds ?? this.#retryAllDelaySeconds;
  }

  /** Returns the calls so far: later ones do not change the result. */
  calls(): HandlerCalls {
    const logs = this.#lines?.read();
    return {
      ackAll: this.#ackAll,
      retryBatch: withDelay({ retry: this.#retryAll }, this.#retryAllDelaySeconds),
      explicitAcks: [...this.#acked],
      retryMessages: [...this.#retried.values()],
      ...(logs === undefined ? {} : { logs }),
    };
  }

  #retryOf(msgId: string, delaySeconds: number | undefined): RetryCall {
    const printed = this.#lines?.takeJustPrinted() ?? this.#retried.get(msgId)?.printed;
    return withDelay(printed === undefined ? { msgId } : { msgId, printed }, delaySeconds);
  }
}

function withDelay<T extends object>(
  entry: T,
  delaySeconds: number | undefined,
): T & { readonly delaySeconds?: number } {
  return delaySeconds === undefined ? entry : { ...entry, delaySeconds };
}

/** The runtime's warning, word for word. `id` is given when the call was one about a message. */
function tooLate(call: string, earlier: string, id?: string): string {
  const about = id === undefined ? "" : ` on message ${id}`;
  const on = id === undefined ? "" : " on a message";
  return (
    `Received a call to ${call}${about} after ${earlier} was already called. Calling ${call}${on} after ` +
    `calling ${earlier} has no effect.`
  );
}

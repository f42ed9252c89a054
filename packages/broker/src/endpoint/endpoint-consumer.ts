import { type Delivery, type DeliveryResult, PackedIndex } from "@sluice/protocol";
import type { ConsumerPort } from "../push/delivery-result.ts";
import { ackedResult, failedResult, type RejectedDelivery } from "../push/delivery-result.ts";
import type { EndpointFormat, PushedMessage, Verdict } from "./endpoint.ts";
import type { EndpointCaller } from "./endpoint-caller.ts";
import { traceHeaders } from "./trace-headers.ts";

/**
 * Adapts an HTTP endpoint to the dispatcher's consumers: a batch is one message, a delivery is one request. A server
 * that cannot be reached is an absent consumer: its messages wait, uncounted, and it is probed at growing intervals.
 */
export class EndpointConsumer implements ConsumerPort {
  /** True, because a server that crashes on a message looks like one that is away. */
  readonly returnsOnTrial = true;
  readonly #caller: EndpointCaller;
  readonly #format: EndpointFormat;
  /** Deliveries whose requests have no outcome yet. */
  readonly #underWay = new Set<string>();

  constructor(caller: EndpointCaller, format: EndpointFormat) {
    this.#caller = caller;
    this.#format = format;
  }

  get name(): string {
    return this.#caller.name;
  }

  /** Rejects when no server is there, with `NotCalled` when it may not be called. */
  async deliver(delivery: Delivery): Promise<DeliveryResult | RejectedDelivery> {
    this.#underWay.add(delivery.id);
    try {
      return await this.#post(delivery);
    } finally {
      this.#underWay.delete(delivery.id);
    }
  }

  async #post(delivery: Delivery): Promise<DeliveryResult | RejectedDelivery> {
    const { settings, clock } = this.#caller;
    const message = pushedMessageOf(delivery, clock.now() + 1000 * settings.responseTimeoutSeconds);
    const trace = traceHeaders(message.extension, delivery.trace);
    const headers = { ...this.#format.headers(message, settings), ...trace };
    const outcome = await this.#caller.post({
      url: settings.url,
      headers,
      body: message.body,
      id: message.id,
    });
    const verdict = this.#format.judge(outcome, message, clock.now(), settings);
    if (verdict.kind === "done" && verdict.note !== undefined)
      this.#caller.note(`${message.id}: ${verdict.note}`);
    return resultOf(verdict, message);
  }

  /** Resolves with `null` for a request under way, which has reached a server and counts; rejects for any other. */
  callsOf(deliveryId: string): Promise<null> {
    return this.#underWay.has(deliveryId)
      ? Promise.resolve(null)
      : Promise.reject(new Error("no server is there"));
  }

  async ping(): Promise<void> {
    if (!(await this.#caller.isReady())) throw new Error("it is not ready");
  }
}

function pushedMessageOf(delivery: Delivery, deadlineMs: number): PushedMessage {
  const { queue, packed, attempts } = delivery;
  const index = new PackedIndex(packed);
  return {
    ...index.message(0),
    queue,
    deadlineMs,
    attempt: typeof attempts === "number" ? attempts : (attempts[0] ?? 1),
    extension: index.extension(0),
  };
}

function resultOf(verdict: Verdict, message: PushedMessage): DeliveryResult | RejectedDelivery {
  switch (verdict.kind) {
    case "done":
      return ackedResult();
    case "dead":
      return { rejected: verdict.reason };
    case "absent":
      throw new Error(verdict.reason);
    case "retry": {
      const { delaySeconds, reason } = verdict;
      const result = failedResult(reason);
      return delaySeconds === null
        ? result
        : { ...result, retryMessages: [{ msgId: message.id, delaySeconds }] };
    }
  }
}

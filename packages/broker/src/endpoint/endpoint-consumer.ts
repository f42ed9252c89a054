import { type Delivery, type DeliveryResult, PackedIndex } from "@sluice/protocol";
import type { ConsumerPort } from "../push/delivery-result.ts";
import { ackedResult, failedResult, type RejectedDelivery } from "../push/delivery-result.ts";
import type { EndpointFormat, PushedMessage, Verdict } from "./endpoint.ts";
import type { EndpointCaller } from "./endpoint-caller.ts";

/**
 * An HTTP endpoint as the dispatcher sees a consumer: a batch is one message, a delivery is one request. Nobody there
 * is an absent consumer: its messages wait, uncounted, and it is asked at growing intervals whether it is back.
 */
export class EndpointConsumer implements ConsumerPort {
  /** A server that crashes on a message cannot be told from one that was not there. */
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

  /** Rejects when nobody is there, with `NotCalled` when nobody may be asked. */
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
    const headers = this.#format.headers(message, settings);
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

  /** Nothing is known of a request but its answer. One that is still under way has reached somebody: it counts. */
  callsOf(deliveryId: string): Promise<null> {
    return this.#underWay.has(deliveryId)
      ? Promise.resolve(null)
      : Promise.reject(new Error("nobody is there"));
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
    extension: index.hasExtension(0) ? index.extension(0) : {},
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

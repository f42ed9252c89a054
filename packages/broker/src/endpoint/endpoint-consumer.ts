import { type Delivery, type DeliveryResult, type HttpPushSettings, PackedIndex } from "@sluice/protocol";
import type { Clock } from "../clock.ts";
import { ackedResult, failedResult, type RejectedDelivery } from "../delivery-result.ts";
import type { QueueLog } from "../log.ts";
import type { ConsumerPort } from "../ports.ts";
import type { EndpointFormat, EndpointPort, PushedMessage, Verdict } from "./endpoint.ts";
import { signatureHeaders } from "./signature.ts";
import { refusalOfTarget, type TargetRules } from "./target.ts";

/** What an HTTP endpoint is called with. */
export interface EndpointConsumerInput {
  readonly settings: HttpPushSettings;
  readonly format: EndpointFormat;
  readonly port: EndpointPort;
  readonly clock: Clock;
  readonly log: QueueLog;
  readonly targets: TargetRules;
  /** Environment variables of the broker. */
  variable(name: string): string | undefined;
}

/**
 * An HTTP endpoint as the dispatcher sees a consumer: a batch is one message, a delivery is one request. Nobody there is an
 * absent consumer: its messages wait, uncounted, and it is asked at growing intervals whether it is back.
 */
export class EndpointConsumer implements ConsumerPort {
  readonly #input: EndpointConsumerInput;

  constructor(input: EndpointConsumerInput) {
    this.#input = input;
  }

  /** Without its query, which may hold a key. */
  get name(): string {
    const url = URL.parse(this.#input.settings.url);
    return url === null ? "an invalid URL" : `${url.origin}${url.pathname}`;
  }

  /** Rejects when nobody is there. */
  async deliver(delivery: Delivery): Promise<DeliveryResult | RejectedDelivery> {
    const { settings, format, port, clock } = this.#input;
    const message = pushedMessageOf(delivery, clock.now() + 1000 * settings.responseTimeoutSeconds);
    const outcome = await port.post({
      url: this.#target(),
      headers: await this.#headers(message),
      body: message.body,
      connectTimeoutMs: 1000 * settings.connectTimeoutSeconds,
      responseTimeoutMs: 1000 * settings.responseTimeoutSeconds,
    });
    return resultOf(format.judge(outcome, message, clock.now()), message);
  }

  /** Nothing is known of a request but its answer. */
  callsOf(): Promise<never> {
    return Promise.reject(new Error("nobody is there"));
  }

  async ping(): Promise<void> {
    const { settings, port } = this.#input;
    this.#ownHeaders();
    const timeoutMs = 1000 * settings.connectTimeoutSeconds;
    if (await port.isReady(this.#target(), settings.readinessPath, timeoutMs)) return;
    throw new Error("it is not ready");
  }

  #target(): string {
    const { settings, targets } = this.#input;
    const refusal = refusalOfTarget(settings.url, targets);
    return refusal === null ? settings.url : this.#cannotCall(refusal);
  }

  async #headers(message: PushedMessage): Promise<Record<string, string>> {
    const { settings, format, clock } = this.#input;
    const headers = { ...format.headers(message, settings), ...this.#ownHeaders() };
    if (settings.signingSecret === undefined) return headers;
    const secret = this.#variable(settings.signingSecret);
    return { ...headers, ...(await signatureHeaders(secret, message.id, message.body, clock.now())) };
  }

  /** The headers of the settings, with the values of environment variables in their places. */
  #ownHeaders(): Record<string, string> {
    const entries = Object.entries(this.#input.settings.headers ?? {});
    return Object.fromEntries(
      entries.map(([name, value]) => [
        name.toLowerCase(),
        value.startsWith("$") ? this.#variable(value.slice(1)) : value,
      ]),
    );
  }

  #variable(name: string): string {
    const value = this.#input.variable(name);
    return value ?? this.#cannotCall(`the environment variable ${name} is not set`);
  }

  #cannotCall(reason: string): never {
    this.#input.log.error(`${this.name} cannot be called: ${reason}`);
    throw new Error(reason);
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

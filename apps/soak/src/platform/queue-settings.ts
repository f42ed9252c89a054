import { rulesOf } from "@sluice/broker/testing";
import type { QueueRules } from "@sluice/engine";
import type { QueueDefinition } from "@sluice/protocol";

/** Settings of a queue, and the bounds of all that it ever had. */
export class QueueSettings {
  /** Whether delivery is paused; while it is being resumed the queue may not have heard of it. */
  delivery: "on" | "paused" | "resuming" = "on";
  /** The most that they ever allowed: alarms and attempts can be older than a change of settings. */
  laxest: Pick<QueueRules, "maxRetries" | "retentionMs" | "batchTimeoutMs">;
  #definition: QueueDefinition;
  #rules: QueueRules;
  /** The shortest that the queue ever kept messages, in ms. */
  #retentionMsMin: number;

  constructor(definition: QueueDefinition) {
    this.#definition = definition;
    this.#rules = rulesOf(definition);
    this.laxest = this.#rules;
    this.#retentionMsMin = this.#rules.retentionMs;
  }

  get definition(): QueueDefinition {
    return this.#definition;
  }

  get rules(): QueueRules {
    return this.#rules;
  }

  /** Rules of a queue that keeps messages for as short as this one ever did. */
  get shortestRules(): QueueRules {
    return { ...this.#rules, retentionMs: this.#retentionMsMin };
  }

  change(definition: QueueDefinition): void {
    this.#definition = { ...definition, deliveryPaused: this.delivery === "paused" };
    this.#rules = rulesOf(definition);
    const { maxRetries, retentionMs, batchTimeoutMs } = this.#rules;
    this.#retentionMsMin = Math.min(this.#retentionMsMin, retentionMs);
    this.laxest = {
      maxRetries: Math.max(this.laxest.maxRetries, maxRetries),
      retentionMs: Math.max(this.laxest.retentionMs, retentionMs),
      batchTimeoutMs: Math.max(this.laxest.batchTimeoutMs, batchTimeoutMs),
    };
  }

  /** From now on nothing is leased for the consumer; batches in flight go on. */
  pause(): void {
    this.delivery = "paused";
    this.#definition = { ...this.#definition, deliveryPaused: true };
  }

  /** Delivery goes on, when the queue has heard of it. */
  resume(): void {
    this.delivery = "resuming";
    this.#definition = { ...this.#definition, deliveryPaused: false };
  }

  /** The queue has heard that delivery goes on. */
  resumed(): void {
    if (this.delivery === "resuming") this.delivery = "on";
  }
}

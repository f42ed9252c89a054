import { type Registration, rulesOf } from "@sluice/broker/testing";
import type { QueueRules } from "@sluice/engine";
import type { QueueDefinition } from "@sluice/protocol";

/** Definition of a queue that does not exist. */
const ABSENT: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: 345_600,
  producers: [],
  consumer: null,
};

/** Settings that a queue goes by, and the extremes of all that it ever had. */
export class QueueSettings {
  /** Delivery as the history wants it; the queue's object may not have heard of that yet. */
  delivery: "on" | "paused" | "resuming" = "on";
  /** Largest values that the queue ever had: alarms and attempts can be older than a change of settings. */
  laxest: Pick<QueueRules, "maxRetries" | "retentionMs" | "batchTimeoutMs">;
  #definition: QueueDefinition;
  #rules: QueueRules;
  /** Shortest retention that the queue ever had, in ms. */
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

  /** The rules with the shortest retention that the queue ever had. */
  get shortestRules(): QueueRules {
    return { ...this.#rules, retentionMs: this.#retentionMsMin };
  }

  /** Takes the settings of a registration now and at each change. A topic has none at its start. */
  follow(registration: Registration, isTopic: boolean): void {
    const { set } = registration;
    const take = () => this.change(registration.definition ?? ABSENT);
    registration.set = (record) => {
      set.call(registration, record);
      take();
    };
    if (!isTopic) take();
  }

  change(definition: QueueDefinition): void {
    this.#definition = definition;
    this.#rules = rulesOf(definition);
    const { maxRetries, retentionMs, batchTimeoutMs } = this.#rules;
    this.#retentionMsMin = Math.min(this.#retentionMsMin, retentionMs);
    this.laxest = {
      maxRetries: Math.max(this.laxest.maxRetries, maxRetries),
      retentionMs: Math.max(this.laxest.retentionMs, retentionMs),
      batchTimeoutMs: Math.max(this.laxest.batchTimeoutMs, batchTimeoutMs),
    };
  }
}

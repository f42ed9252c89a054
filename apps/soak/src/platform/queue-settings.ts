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

/** Settings that a queue goes by, and the bounds of all that it ever had. */
export class QueueSettings {
  /** Whether delivery is paused, as somebody has said; the queue may not have heard of it. */
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

  /** Takes the settings that the queue goes by itself, from now on; a topic has none when it starts. */
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

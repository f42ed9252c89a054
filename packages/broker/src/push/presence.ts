import { Backoff } from "../platform/backoff.ts";
import type { QueueContext } from "../turn/context.ts";
import type { PushDeliverer } from "../why/conditions.ts";
import { Absence } from "./absence.ts";
import type { ConsumerPort } from "./delivery-result.ts";

/** Longest time that a probe of a consumer waits for its answer, in ms. */
export const PROBE_MS_MAX = 10_000;

/**
 * Presence of a queue's consumer. One that took no delivery is absent: it is probed at growing intervals, and gets no
 * messages until it answers. Some consumers get a single delivery then, the trial, with which they prove that they are
 * back.
 */
export class ConsumerPresence {
  readonly #context: QueueContext;
  readonly #backoff = new Backoff();
  /** Why the consumer is absent; `null` while it is present. */
  #absence: Absence | null = null;
  /** Probe that is not answered yet. */
  #probe: { readonly endsMs: number } | null = null;
  #returns = 0;
  /** State of the trial: still to come, or the id of its lease; `null` for none. */
  #trial: "due" | number | null = null;

  constructor(context: QueueContext) {
    this.#context = context;
  }

  get isAbsent(): boolean {
    return this.#backoff.failing;
  }

  /** Time in ms of the next probe, or at which the one under way is given up; meaningful while `isAbsent`. */
  get probedAtMs(): number {
    return this.#probe?.endsMs ?? this.#backoff.retryAtMs;
  }

  /** Count of returns and replacements. A call of an earlier count says nothing about the consumer now. */
  get returns(): number {
    return this.#returns;
  }

  /** Reason for which the consumer may not be called; `null` if it may. */
  get notCalledReason(): string | null {
    return this.#absence?.kind === "notCalled" ? this.#absence.reason : null;
  }

  get trial(): PushDeliverer["trial"] {
    return typeof this.#trial === "number" ? "running" : this.#trial;
  }

  isTrial(leaseId: number): boolean {
    return this.#trial === leaseId;
  }

  /** Makes a new lease the trial, if one is due. */
  leased(leaseId: number): void {
    if (this.#trial === "due") this.#trial = leaseId;
  }

  /** Ends the trial, if this lease is it. */
  ended(leaseId: number): void {
    if (this.#trial === leaseId) this.#trial = null;
  }

  /** Notes that the consumer has answered a delivery: it needs no trial. */
  answered(): void {
    this.#trial = null;
  }

  /** Begins anew for another consumer. */
  replaced(): void {
    this.#backoff.succeeded();
    this.#absence = null;
    this.#probe = null;
    this.#trial = null;
    this.#returns += 1;
  }

  /**
   * Notes that the consumer is absent. It is probed before it gets a lease again.
   *
   * @param returns value of `returns` when the call began.
   */
  lost(consumer: ConsumerPort, absence: Absence, returns: number): void {
    if (this.isAbsent || returns !== this.#returns) return;
    this.#announce(consumer, absence);
    this.#backoff.failed(this.#context.nowMs);
  }

  /** Asks an absent consumer whether it is back. */
  async probe(consumer: ConsumerPort): Promise<void> {
    if (this.#probe !== null) this.#backoff.failed(this.#context.nowMs);
    const probe = { endsMs: this.#context.nowMs + PROBE_MS_MAX };
    this.#probe = probe;
    const absence = await consumer.ping().then(() => null, Absence.from);
    if (this.#probe !== probe) return;
    this.#probe = null;
    if (absence === null) this.#returned(consumer);
    else this.#stillAbsent(consumer, absence);
  }

  #returned({ name, returnsOnTrial }: ConsumerPort): void {
    this.#absence = null;
    this.#returns += 1;
    this.#backoff.succeeded();
    this.#trial = returnsOnTrial === true ? "due" : null;
    this.#context.log.info(`Queue "${this.#context.name}": its consumer "${name}" is running again`);
    void this.#context.wake();
  }

  /** Notes a failed probe, and logs it unless its reason is known. */
  #stillAbsent(consumer: ConsumerPort, absence: Absence): void {
    const known = this.#absence;
    const isKnown =
      absence.kind === "notCalled" ? absence.reason === known?.reason : known?.kind !== "notCalled";
    if (!isKnown) this.#announce(consumer, absence);
    this.#backoff.failed(this.#context.nowMs);
    this.#context.rearm();
  }

  #announce({ name }: ConsumerPort, absence: Absence): void {
    this.#absence = absence;
    const line = `Queue "${this.#context.name}": its consumer "${name}" ${absence.announcement()}`;
    this.#context.log[absence.kind === "notCalled" ? "error" : "warn"](line);
  }
}

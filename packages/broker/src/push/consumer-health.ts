import type { ConsumerHealth, NextDelivery } from "@sluice/protocol";
import type { Throttle } from "../turn/throttle.ts";

interface DeliveryEnd {
  readonly hasFailed?: boolean;
  readonly acked?: number;
  readonly messages?: number;
}

/** Record of how deliveries ended, for people and in memory alone. */
export class DeliveryRecord {
  /** Deliveries since the last one that acknowledged messages and did not fail. */
  #withoutSuccess = 0;
  /** Whether a handler asked for all messages of the last delivery again. */
  #wasAsked = false;
  #lastDelivery: ConsumerHealth["lastDelivery"] = null;

  /**
   * Takes the end of a delivery.
   *
   * @param failure why it failed, or why messages of it are retried; `null` for neither.
   * @param end whether the delivery itself failed: it has not where the handler asked for the retries. Default: with a
   *   failure. And how many of its messages were acknowledged. Default: none was settled.
   */
  ended(nowMs: number, failure: string | null, end: DeliveryEnd = {}): void {
    const { hasFailed = failure !== null, ...settled } = end;
    this.#wasAsked = !hasFailed && failure !== null && settled.acked === 0;
    this.#withoutSuccess = hasFailed || this.#wasAsked ? this.#withoutSuccess + 1 : 0;
    this.#lastDelivery = { endedMs: nowMs, failure, ...settled };
  }

  read(): Pick<ConsumerHealth, "consecutiveFailures" | "lastDelivery"> {
    // A handler that asks once is in order: it waits for something.
    const isSingle = this.#withoutSuccess === 1 && this.#wasAsked;
    return { consecutiveFailures: isSingle ? 0 : this.#withoutSuccess, lastDelivery: this.#lastDelivery };
  }
}

/** Tells when the next delivery is, and what it waits for. @param dueMs when it is due but for the queue's rate. */
export function nextDelivery(throttle: Throttle, nowMs: number, dueMs: number | null): NextDelivery | null {
  if (dueMs === null) return null;
  const readyMs = Math.max(dueMs, nowMs);
  return throttle.nextMs > readyMs
    ? { waitsFor: "slot", atMs: throttle.nextMs }
    : { waitsFor: "due", atMs: readyMs };
}

import type { ConsumerHealth, NextDelivery } from "@sluice/protocol";
import type { EarlierDeliveries } from "../history/earlier-deliveries.ts";
import type { Throttle } from "../turn/throttle.ts";

interface DeliveryEnd {
  readonly hasFailed?: boolean;
  readonly acked?: number;
  readonly messages?: number;
}

/** Record of how deliveries ended, for people. It is in memory; earlier epochs are read from the history. */
export class DeliveryRecord {
  readonly #readEarlier: () => EarlierDeliveries | null;
  /** `undefined` before the first `read`. */
  #earlier: EarlierDeliveries | null | undefined;
  /** Whether a delivery since the start went well: those before it do not matter. */
  #hasSucceeded = false;
  /** Deliveries since the last one that acknowledged messages and did not fail. */
  #withoutSuccess = 0;
  /** Whether a handler asked for all messages of the last delivery again. */
  #wasAsked = false;
  #lastDelivery: ConsumerHealth["lastDelivery"] = null;

  /** @param earlier tells how deliveries ended before this epoch. Called by the first `read`. Default: `null`. */
  constructor(earlier: () => EarlierDeliveries | null = () => null) {
    this.#readEarlier = earlier;
  }

  /**
   * Takes the end of a delivery.
   *
   * @param failure why it failed, or why messages of it are retried; `null` for neither.
   * @param end whether the delivery itself failed, which it has not where the handler asked for the retries (default:
   *   if `failure` is given), and how many of its messages were acknowledged (default: unknown).
   */
  ended(nowMs: number, failure: string | null, end: DeliveryEnd = {}): void {
    const { hasFailed = failure !== null, ...settled } = end;
    this.#wasAsked = !hasFailed && failure !== null && settled.acked === 0;
    const isSuccess = !hasFailed && !this.#wasAsked;
    this.#hasSucceeded ||= isSuccess;
    this.#withoutSuccess = isSuccess ? 0 : this.#withoutSuccess + 1;
    this.#lastDelivery = { endedMs: nowMs, failure, ...settled };
  }

  read(): Pick<ConsumerHealth, "consecutiveFailures" | "lastDelivery"> {
    if (this.#earlier === undefined) this.#earlier = this.#readEarlier();
    const earlier = this.#hasSucceeded ? null : this.#earlier;
    const withoutSuccess = this.#withoutSuccess + (earlier?.withoutSuccess ?? 0);
    const wasAsked = this.#lastDelivery === null ? (earlier?.wasAsked ?? false) : this.#wasAsked;
    // A handler that retries all messages once is in order: it waits for something.
    const isSingle = withoutSuccess === 1 && wasAsked;
    return {
      consecutiveFailures: isSingle ? 0 : withoutSuccess,
      lastDelivery: this.#lastDelivery ?? earlier?.last ?? null,
    };
  }
}

/** Finds when the next delivery is, and what it waits for. @param dueMs when it is due but for the queue's rate. */
export function nextDelivery(throttle: Throttle, nowMs: number, dueMs: number | null): NextDelivery | null {
  if (dueMs === null) return null;
  const readyMs = Math.max(dueMs, nowMs);
  return throttle.nextMs > readyMs
    ? { waitsFor: "slot", atMs: throttle.nextMs }
    : { waitsFor: "due", atMs: readyMs };
}

import type { ConsumerHealth, NextDelivery } from "@sluice/protocol";
import type { Throttle } from "../turn/throttle.ts";

/** Record of how deliveries ended, for people and in memory alone. */
export class DeliveryRecord {
  #consecutiveFailures = 0;
  #lastDelivery: ConsumerHealth["lastDelivery"] = null;

  /** Takes the end of a delivery. @param failure why it failed; `null` if it did not. */
  ended(nowMs: number, failure: string | null): void {
    this.#consecutiveFailures = failure === null ? 0 : this.#consecutiveFailures + 1;
    this.#lastDelivery = { endedMs: nowMs, failure };
  }

  read(): Pick<ConsumerHealth, "consecutiveFailures" | "lastDelivery"> {
    return { consecutiveFailures: this.#consecutiveFailures, lastDelivery: this.#lastDelivery };
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

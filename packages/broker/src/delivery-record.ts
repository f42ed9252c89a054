import type { ConsumerHealth } from "@sluice/protocol";

/** Remembers how deliveries ended: for people, in memory alone. Nothing is decided by it. */
export class DeliveryRecord {
  #consecutiveFailures = 0;
  #lastDelivery: ConsumerHealth["lastDelivery"] = null;

  /** @param failure why the delivery went wrong; `null` if it did not. */
  ended(nowMs: number, failure: string | null): void {
    this.#consecutiveFailures = failure === null ? 0 : this.#consecutiveFailures + 1;
    this.#lastDelivery = { endedMs: nowMs, failure };
  }

  read(): Pick<ConsumerHealth, "consecutiveFailures" | "lastDelivery"> {
    return { consecutiveFailures: this.#consecutiveFailures, lastDelivery: this.#lastDelivery };
  }
}

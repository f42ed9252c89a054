import type { HandlerCalls } from "@sluice/protocol";
import type { BatchState } from "./batch-state.ts";

/**
 * Deliveries that are remembered. Only those of handlers that were ended stay, and their broker asks for them at once.
 */
export const UNFINISHED_MAX = 1_000;

/**
 * Deliveries that the handlers of this isolate have not reported yet, with the calls that they have made. When the
 * platform ends a handler nothing of its call runs any more, no `finally` either, but the isolate goes on and still
 * knows.
 */
export class UnfinishedDeliveries {
  readonly #states = new Map<string, BatchState>();

  begin(deliveryId: string, state: BatchState): void {
    this.#states.set(deliveryId, state);
    if (this.#states.size <= UNFINISHED_MAX) return;
    const [oldest] = this.#states.keys();
    if (oldest !== undefined) this.#states.delete(oldest);
  }

  end(deliveryId: string): void {
    this.#states.delete(deliveryId);
  }

  /** Ends a delivery and answers with what was called; `null` for one that is not known. */
  take(deliveryId: string): HandlerCalls | null {
    const state = this.#states.get(deliveryId);
    this.#states.delete(deliveryId);
    return state?.calls() ?? null;
  }
}

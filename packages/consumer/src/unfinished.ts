import type { HandlerCalls, LogLevel } from "@sluice/protocol";
import type { BatchState } from "./batch-state.ts";
import type { DeliveryLines } from "./logs/delivery-lines.ts";
import { JustPrinted } from "./logs/just-printed.ts";
import { printedText } from "./logs/printed-text.ts";
import type { Called } from "./logs/watch-console.ts";

/**
 * Deliveries that are remembered. Only those of handlers that were ended stay, and their broker asks for them at once.
 */
export const UNFINISHED_MAX = 1_000;

interface Unfinished {
  readonly state: BatchState;
  /** `null` if they are not asked for. */
  readonly lines: DeliveryLines | null;
}

/**
 * Deliveries that the handlers of this isolate have not reported yet, with the calls that they have made. When the
 * platform ends a handler nothing of its call runs any more, no `finally` either, but the isolate goes on, and can
 * still answer with these calls.
 */
export class UnfinishedDeliveries {
  readonly #deliveries = new Map<string, Unfinished>();
  /** Shared by the lines of deliveries that nothing tells apart. */
  readonly justPrinted = new JustPrinted();

  begin(deliveryId: string, state: BatchState, lines: DeliveryLines | null = null): void {
    this.#deliveries.set(deliveryId, { state, lines });
    if (this.#deliveries.size <= UNFINISHED_MAX) return;
    const [oldest] = this.#deliveries.keys();
    if (oldest !== undefined) this.#deliveries.delete(oldest);
  }

  end(deliveryId: string): void {
    this.#deliveries.delete(deliveryId);
  }

  /**
   * Takes a call of the console without a context that names its delivery: it is taken while a single delivery runs.
   *
   * @returns the name of that delivery; `null` where there are others.
   */
  printed(level: LogLevel, args: readonly unknown[], called: Called): string | null {
    const [only, ...others] = this.#deliveries.values();
    if (others.length === 0) {
      only?.lines?.add(level, args, called);
      return only?.lines?.name ?? null;
    }
    const all = [...this.#deliveries.values()].flatMap(({ lines }) => lines ?? []);
    for (const lines of all) lines.addMixed();
    // It is unknown whose line it is, but a retry in the same run of synchronous code is of the same delivery.
    const isOurs = all.some(({ isMuted }) => isMuted);
    if (level === "error" && all.length > 0 && !isOurs) this.justPrinted.note(printedText(args));
    return null;
  }

  /** Ends a delivery and answers with what was called; `null` for one that is not known. */
  take(deliveryId: string): HandlerCalls | null {
    const delivery = this.#deliveries.get(deliveryId);
    this.#deliveries.delete(deliveryId);
    return delivery?.state.calls() ?? null;
  }
}

import { inBatches } from "./batches.ts";
import { type Clock, systemClock } from "./pump.ts";

/**
 * Messages that stay in Sluice, each under its lease until it is given back. A lease that ends counts as a delivery,
 * and after too many of these a message dies; one that is given back before does not.
 */
export class Staying {
  readonly #release: (receipts: readonly string[]) => Promise<unknown>;
  #held: { readonly receipt: string; readonly untilMs: number }[] = [];

  /** @param release gives up to 100 messages back. */
  constructor(release: (receipts: readonly string[]) => Promise<unknown>) {
    this.#release = release;
  }

  /** @param untilMs end of their lease. */
  add(receipts: readonly string[], untilMs: number): void {
    this.#held.push(...receipts.map((receipt) => ({ receipt, untilMs })));
  }

  /** Gives messages back whose lease ends at a time or before it. Default: all. */
  async giveBack(byMs = Number.POSITIVE_INFINITY): Promise<void> {
    const due = this.#held.filter(({ untilMs }) => untilMs <= byMs);
    this.#held = this.#held.filter(({ untilMs }) => untilMs > byMs);
    for (const batch of inBatches(due, () => 0)) await this.#release(batch.map(({ receipt }) => receipt));
  }

  /** Gives each back when half of its lease is over, until it is stopped: it is taken again then. */
  async keep(leaseMs: number, stop: AbortSignal, clock: Clock = systemClock(stop)): Promise<void> {
    while (!stop.aborted) {
      await clock.wait(leaseMs / 8);
      await this.giveBack(clock.now() + leaseMs / 2);
    }
  }
}

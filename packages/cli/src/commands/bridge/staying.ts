import { inBatches } from "./batches.ts";
import { type Clock, systemClock } from "./pump.ts";

/**
 * Holds leased messages that could not be moved, and releases each before its lease ends. A lease that ends counts as a
 * delivery, and too many of these make a message a dead letter; a released lease does not count.
 */
export class Staying {
  readonly #release: (receipts: readonly string[]) => Promise<unknown>;
  #held: { readonly receipt: string; readonly untilMs: number }[] = [];

  /** @param release releases up to 100 messages by their receipts. */
  constructor(release: (receipts: readonly string[]) => Promise<unknown>) {
    this.#release = release;
  }

  /** @param untilMs end of their lease. */
  add(receipts: readonly string[], untilMs: number): void {
    this.#held.push(...receipts.map((receipt) => ({ receipt, untilMs })));
  }

  /** Releases the messages whose lease ends at a time in Unix ms or before it. Default: all. */
  async giveBack(byMs = Number.POSITIVE_INFINITY): Promise<void> {
    const due = this.#held.filter(({ untilMs }) => untilMs <= byMs);
    this.#held = this.#held.filter(({ untilMs }) => untilMs > byMs);
    for (const batch of inBatches(due, () => 0)) await this.#release(batch.map(({ receipt }) => receipt));
  }

  /** Releases each message when half of its lease is over, until it is stopped. It can be leased again then. */
  async keep(leaseMs: number, stop: AbortSignal, clock: Clock = systemClock(stop)): Promise<void> {
    while (!stop.aborted) {
      await clock.wait(leaseMs / 8);
      await this.giveBack(clock.now() + leaseMs / 2);
    }
  }
}

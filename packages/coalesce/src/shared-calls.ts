import type { SharedCall } from "./shared-call.ts";

/** Idle calls that are kept, for a client that asks many queues in turn. */
export const CALLS_KEPT_MAX = 1_000;

/** Shared calls by what they are for. An idle one is kept for the next request: to make a new one takes longer. */
export class SharedCalls<Item, Result> {
  readonly #calls = new Map<string, SharedCall<Item, Result>>();
  #keptMax = CALLS_KEPT_MAX;

  /** The call for `key`; `begin` makes it where there is none. */
  of(key: string, begin: () => SharedCall<Item, Result>): SharedCall<Item, Result> {
    let call = this.#calls.get(key);
    if (call === undefined) {
      if (this.#calls.size >= this.#keptMax) this.#forgetIdle();
      call = begin();
      this.#calls.set(key, call);
    }
    return call;
  }

  /** Calls that are remembered. */
  get size(): number {
    return this.#calls.size;
  }

  /** When hardly any is idle, the next search waits until there are twice as many. */
  #forgetIdle(): void {
    for (const [key, call] of this.#calls) if (call.isIdle) this.#calls.delete(key);
    this.#keptMax = Math.max(CALLS_KEPT_MAX, 2 * this.#calls.size);
  }
}

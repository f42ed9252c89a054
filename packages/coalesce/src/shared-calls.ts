import { SharedCall, type SharedCallPorts, setTimer } from "./shared-call.ts";

/** Idle calls that are kept, for a client that asks many queues in turn. */
export const CALLS_KEPT_MAX = 1_000;

/** Ports that all calls have in common: their weights, the time that items linger, and the clock. */
type CallsPorts<Item, Result> = Omit<SharedCallPorts<Item, Result>, "call" | "setTimer">;

/** Shared calls by key, such as a queue's name. An idle one is kept for the next request: a new one takes longer. */
export class SharedCalls<Item, Result> {
  readonly #ports: CallsPorts<Item, Result>;
  readonly #calls = new Map<string, SharedCall<Item, Result>>();
  #keptMax = CALLS_KEPT_MAX;

  constructor(ports: CallsPorts<Item, Result>) {
    this.#ports = ports;
  }

  /** The call for `key`; where there is none, one that is made by `call`. */
  of(key: string, call: SharedCallPorts<Item, Result>["call"]): SharedCall<Item, Result> {
    let shared = this.#calls.get(key);
    if (shared === undefined) {
      if (this.#calls.size >= this.#keptMax) this.#forgetIdle();
      shared = new SharedCall({ ...this.#ports, call, setTimer });
      this.#calls.set(key, shared);
    }
    return shared;
  }

  /** Calls that are remembered. */
  get size(): number {
    return this.#calls.size;
  }

  /** Forgets idle calls. Where hardly any is idle, the next search waits until there are twice as many calls. */
  #forgetIdle(): void {
    for (const [key, call] of this.#calls) if (call.isIdle) this.#calls.delete(key);
    this.#keptMax = Math.max(CALLS_KEPT_MAX, 2 * this.#calls.size);
  }
}

import { AsyncLocalStorage } from "node:async_hooks";

/** A run of `explore`, during which only this run may use its runtime. */
export class Exploration {
  /** Resolves when nothing of the exploration is under way. */
  readonly done: Promise<void>;
  readonly finish: () => void;
  readonly signal: AbortSignal | undefined;

  constructor(signal: AbortSignal | undefined) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.done = promise;
    this.finish = resolve;
    this.signal = signal;
  }
}

/** The exploration that the current code belongs to, or "callback" for a function that the runtime calls. */
const current = new AsyncLocalStorage<Exploration | "callback">();

export function runAsPart<Result>(exploration: Exploration, run: () => Result): Result {
  return current.run(exploration, run);
}

/** Calls a function that the runtime got at its start, which may use the runtime at any time. */
export function callBack<Result>(run: () => Result): Result {
  return current.run("callback", run);
}

/**
 * Refuses a call of a runtime by other code than its exploration.
 *
 * @param running exploration that has the runtime; `null` for none.
 * @param name name of the call.
 * @throws Error that says who has the runtime.
 */
export function refuseOthers(running: Exploration | null, name: string): void {
  const caller = current.getStore();
  if (caller === "callback" || (caller ?? null) === running) {
    running?.signal?.throwIfAborted();
    return;
  }
  if (caller !== undefined) {
    throw new Error(
      `${name} is called by act() or holds() of an explore() that has ended, or runs on another runtime.`,
    );
  }
  throw new Error(
    `${name} is called while explore() has the runtime: await explore() first. Where its test has timed out, give ` +
      "explore() a `timeoutMs` below the time-out of the test, or the `signal` of the test.",
  );
}

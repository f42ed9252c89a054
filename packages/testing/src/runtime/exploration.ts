import { AsyncLocalStorage } from "node:async_hooks";

/** A run of `explore`, which alone may use its runtime until it is done. */
export class Exploration {
  /** Resolves when nothing of it is under way any more. */
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

/** The exploration that code is a part of, or that the runtime has called it back, for whichever there is. */
const current = new AsyncLocalStorage<Exploration | "callback">();

export function runAsPart<Result>(exploration: Exploration, run: () => Result): Result {
  return current.run(exploration, run);
}

/** Calls a function that the runtime was given at its start: it belongs to whoever uses the runtime. */
export function callBack<Result>(run: () => Result): Result {
  return current.run("callback", run);
}

/**
 * Refuses a call of a runtime that others than its exploration make.
 *
 * @param running the exploration that has the runtime; `null` for none.
 * @param name what is called.
 * @throws Error that says who has it.
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

import { illegalInvocation } from "@sluice/protocol";

/** The part of `ExecutionContext` that matters here. */
export interface WaitUntilContext {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * The promises that a handler gives to `ctx.waitUntil`: the runtime reports a batch when they are settled, and as
 * failed when one of them rejects (spec cloudflare-queues 2.6).
 *
 * Only `ctx` can be watched. What is given to the `waitUntil` that `cloudflare:workers` exports is kept alive but not
 * waited for.
 */
export class BackgroundWork {
  readonly #onRejected: (reason: unknown) => void;
  #pending: Promise<void>[] = [];

  /** @param onRejected called with each reason, once, before `settled` resolves. */
  constructor(onRejected: (reason: unknown) => void) {
    this.#onRejected = onRejected;
  }

  /**
   * Watches a context by shadowing its `waitUntil`. A proxy of the context would not do: `new OtherEntrypoint(ctx,
   * env)` takes only the runtime's own object. The runtime's method is still called, for it keeps the Worker alive and
   * refuses what is no promise.
   */
  watch(ctx: WaitUntilContext): void {
    const { waitUntil } = ctx;
    const remember = (promise: unknown): Promise<void> => {
      const settled = Promise.resolve(promise).then(() => {}, this.#onRejected);
      this.#pending.push(settled);
      return settled;
    };
    const record = function (this: unknown, ...args: readonly unknown[]): void {
      if (this !== ctx) throw illegalInvocation();
      Reflect.apply(waitUntil, ctx, args.length === 0 ? [] : [remember(args[0])]);
    };
    Object.defineProperty(ctx, "waitUntil", { value: record, writable: true, configurable: true });
  }

  /** Resolves when every promise is settled, those included that were added meanwhile. */
  async settled(): Promise<void> {
    do {
      await Promise.all(this.#pending.splice(0));
      await microtasksDrained();
    } while (this.#pending.length > 0);
  }
}

/**
 * Resolves when no microtask is left to run. The runtime looks at a batch from outside JavaScript, so what a handler
 * started and did not await still counts if it needs no I/O. Measured: 11 microseconds.
 */
export function microtasksDrained(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

import { AsyncLocalStorage } from "node:async_hooks";
import type { EndingFault } from "../api.ts";

/** Point at which an invocation of a handler ends: before or after its n-th call of a binding or of `fetch`, from 1. */
export interface Ending {
  readonly kind: EndingFault;
  readonly call: number;
}

/** Invocation that the current code belongs to. A call of another Worker or of a Durable Object starts without one. */
const current = new AsyncLocalStorage<Invocation | undefined>();

/**
 * Invocation of a handler that ends at one of its calls, as if its isolate were destroyed there. This call and all
 * later ones never settle, so the handler cannot go on even if it catches errors.
 */
export class Invocation {
  readonly #ending: Ending;
  readonly #ended = Promise.withResolvers<string>();
  readonly #underWay = new Set<Promise<unknown>>();
  #calls = 0;
  #isOver = false;

  constructor(ending: Ending) {
    this.#ending = ending;
  }

  /** Resolves with the last call when the invocation has ended and all earlier calls have taken effect. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  run<Result>(handler: () => Result): Result {
    return current.run(this, handler);
  }

  /** Makes a call while the invocation runs. A call that returns at once reached no other part, and does not count. */
  call(name: string, make: () => unknown): unknown {
    if (this.#isOver) return never();
    const isLast = this.#calls + 1 === this.#ending.call;
    if (isLast && this.#ending.kind === "endBefore") return this.#end(name);
    const made = make();
    if (!isThenable(made)) return made;
    this.#calls += 1;
    this.#watch(made);
    return isLast ? this.#end(name) : made;
  }

  #watch(made: PromiseLike<unknown>): void {
    const forget = () => this.#underWay.delete(settled);
    const settled: Promise<unknown> = Promise.resolve(made).then(forget, forget);
    this.#underWay.add(settled);
  }

  #end(name: string): unknown {
    this.#isOver = true;
    const { kind, call } = this.#ending;
    const when = kind === "endBefore" ? "before" : "after";
    const text = `the handler ended ${when} its ${ordinal(call)} call, ${name}`;
    void Promise.all(this.#underWay).then(() => this.#ended.resolve(text));
    return never();
  }
}

/** Makes a call of a binding or of `fetch` in the current invocation, if there is one. */
export function callFor(name: string, make: () => unknown): unknown {
  const invocation = current.getStore();
  // A call that a binding makes in turn is not the handler's.
  return invocation === undefined ? make() : invocation.call(name, () => current.run(undefined, make));
}

/** Returns a promise that never settles, nor does anything called on it, such as a method of a later stub. */
function never(): unknown {
  return new Proxy(new Promise<never>(() => {}), {
    get(promise, key) {
      const value: unknown = Reflect.get(promise, key);
      if (typeof value === "function") return value.bind(promise);
      return typeof key === "symbol" ? value : never;
    },
  });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject && typeof Reflect.get(value, "then") === "function";
}

function ordinal(number: number): string {
  const isTeen = Math.floor(number / 10) % 10 === 1;
  return `${number}${(isTeen ? undefined : ["th", "st", "nd", "rd"][number % 10]) ?? "th"}`;
}

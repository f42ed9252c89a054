import type { QueueRuntime, ScheduledResult } from "../api.ts";
import { errorOf } from "./errors.ts";
import { Exploration, refuseOthers, runAsPart } from "./exploration.ts";
import type { Host } from "./host.ts";
import { listed, refuseUnusableEvent } from "./options.ts";
import { Queues } from "./queues.ts";

/** Calls that return a promise, which rejects where they are refused. `reset` waits first and refuses by itself. */
const ASYNC = new Set<PropertyKey>([
  ...["fetch", "scheduled", "advance", "runUntilIdle", "waitFor", "story", "stories"],
]);

/** The user's Workers on a broker, for a test. */
export class Runtime<E> extends Queues implements QueueRuntime<E> {
  readonly env: E;
  readonly #host: Host;
  #exploration: Exploration | null = null;

  constructor(host: Host, startMs: number) {
    super(host, startMs);
    this.#host = host;
    this.env = host.env as E;
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(
      input instanceof Request ? input : new URL(input, "http://localhost"),
      init as never,
    );
    const { method, url } = request;
    const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
    const response = await this.#host.fetch(url, {
      method,
      headers: [...request.headers],
      redirect: "manual",
      ...(body === null || body.byteLength === 0 ? {} : { body }),
    });
    return response as unknown as Response;
  }

  async scheduled(given: Parameters<QueueRuntime["scheduled"]>[0]): Promise<ScheduledResult> {
    refuseUnusableEvent(given);
    const { cron, worker = this.#host.workers[0] ?? "", scheduledTime = this.now } = given;
    if (!this.#host.workers.includes(worker)) {
      throw new Error(`worker: there is no "${worker}" here. There are ${listed(this.#host.workers)}.`);
    }
    const event = { worker, cron, scheduledTime: scheduledTime.getTime() };
    const { outcome, errors } = await this.#host.scheduled(event);
    if (outcome === "absent") throw new Error(`Worker "${worker}" has no scheduled() handler.`);
    return { outcome, errors: errors.map((text) => errorOf(this.#host.rewrite(text))) };
  }

  /** Begins anew, after the end of an aborted exploration. */
  override async reset(): Promise<void> {
    if (this.#exploration?.signal?.aborted === true) await this.#exploration.done;
    this.refuseOthers("reset");
    await super.reset();
  }

  /** Shows from now on what Workers print, or not. */
  show(isShown: boolean): Promise<void> {
    return this.#host.show(isShown);
  }

  /** Prints a line of the test kit itself. */
  warn(line: string): void {
    this.#host.warn(line);
  }

  /**
   * Runs an exploration, which alone may use the runtime meanwhile, and shows nothing that Workers print. Rejects at
   * once when the signal is aborted.
   *
   * @throws Error while another exploration has the runtime.
   */
  async explore<Result>(run: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    signal?.throwIfAborted();
    const exploration = new Exploration(signal);
    this.#exploration = exploration;
    const silently = async () => {
      await this.show(false);
      return run();
    };
    const explored = runAsPart(exploration, silently).finally(async () => {
      await this.show(true);
      this.#exploration = null;
      exploration.finish();
    });
    if (signal === undefined) return explored;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([explored, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** @throws Error for a call that the running exploration does not make. */
  refuseOthers(name: string): void {
    refuseOthers(this.#exploration, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.dispose();
  }
}

/** Makes a runtime that refuses calls of other code while an exploration runs. It can be disposed of at any time. */
export function guarded<E>(runtime: Runtime<E>): Runtime<E> {
  return new Proxy(runtime, {
    get(target, key) {
      if (ASYNC.has(key)) {
        return async (...args: unknown[]) => {
          target.refuseOthers(String(key));
          return Reflect.apply(Reflect.get(target, key), target, args);
        };
      }
      if (typeof key === "string" && key !== "reset") target.refuseOthers(key);
      const value: unknown = Reflect.get(target, key);
      // V8's `await using` does not accept a bound function.
      return typeof value === "function" ? (...args: unknown[]) => Reflect.apply(value, target, args) : value;
    },
  });
}

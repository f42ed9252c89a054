import type {
  Batch,
  MessageMatch,
  Progress,
  QueueHandle,
  QueueRuntime,
  Span,
  Story,
  WaitOptions,
} from "../api.ts";
import { msOf } from "../span.ts";
import type { RunReply, RunRequest } from "../wire.ts";
import type { Host } from "./host.ts";
import { Ledger } from "./ledger.ts";
import { fits, nothingFits } from "./match.ts";
import { queueHandle } from "./queue-handle.ts";

/** Deliveries after which a call that moves the clock gives up. */
export const DELIVERIES_MAX = 10_000;
/** Furthest that `runUntilIdle` goes, in ms. */
export const IDLE_MS_MAX = 31 * 86_400_000;
/** How long `waitFor` waits in real time once nothing is due, in ms. */
export const WAIT_MS = 2_000;

type Limits = Pick<RunRequest, "forMs"> & Partial<Omit<RunRequest, "forMs" | "after">>;

/** The user's Workers on a broker, as a test sees them. */
export class Runtime<E> implements QueueRuntime<E> {
  readonly env: E;
  readonly #host: Host;
  readonly #startMs: number;
  #ledger: Ledger;
  #nowMs: number;
  /** Calls that move the clock, one after the other. */
  #moving: Promise<unknown> = Promise.resolve();

  constructor(host: Host, startMs: number) {
    this.#host = host;
    this.env = host.env as E;
    this.#ledger = new Ledger(0, host.rewrite);
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  get now(): Date {
    return new Date(this.#nowMs);
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(
      input instanceof Request ? input : new URL(input, "http://localhost"),
      init as never,
    );
    const { method, url } = request;
    const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
    const response = await this.#host.fetch(url, {
      ...{ method, headers: [...request.headers], redirect: "manual" },
      ...(body === null || body.byteLength === 0 ? {} : { body }),
    });
    return response as unknown as Response;
  }

  queue<B = unknown>(name: string): QueueHandle<B> {
    return queueHandle<B>(name, {
      calls: this.#host.calls,
      producer: this.#host.producerOf(name),
      ledger: () => this.#caughtUp(),
    });
  }

  sqsUrl(queue: string): URL {
    return this.#host.calls.sqsUrl(queue);
  }

  async advance(by: Span): Promise<Progress> {
    const { progress } = await this.#run({ forMs: msOf(by) });
    return progress;
  }

  async runUntilIdle(
    options: { limit?: number; until?: Span; throwErrors?: boolean } = {},
  ): Promise<Progress> {
    const { limit = DELIVERIES_MAX, until, throwErrors = false } = options;
    const atMostMs = until === undefined ? IDLE_MS_MAX : msOf(until);
    const { progress } = await this.#run({ forMs: null, atMostMs, deliveriesMax: limit });
    const [error, ...others] = progress.errors;
    if (!throwErrors || error === undefined) return progress;
    throw others.length === 0
      ? error
      : new AggregateError(progress.errors, `${progress.errors.length} deliveries have failed`);
  }

  async waitFor<B = unknown>(match: MessageMatch<B>, options: WaitOptions = {}): Promise<Story<B>> {
    const { within = 0, timeoutMs = WAIT_MS } = options;
    const untilMs = this.#nowMs + msOf(within);
    const endsMs = performance.now() + timeoutMs;
    let forMs = 0;
    for (;;) {
      const { reply } = await this.#run({ forMs });
      const found = this.#ledger.stories().find((story) => fits(story, match as MessageMatch));
      if (found !== undefined) return found as Story<B>;
      const { nextMs } = reply;
      if (nextMs !== null && nextMs <= untilMs) {
        forMs = Math.max(1, Math.ceil(nextMs) - this.#nowMs);
        continue;
      }
      // Somebody outside of the queues, such as a request that is under way, may still send.
      forMs = 0;
      const { last } = this.#ledger;
      const { entries } = await this.#host.calls.log({ after: last, waitMs: this.#restMs(endsMs) });
      if (entries.length === 0) throw nothingFits(match as MessageMatch, this.#ledger.stories(), nextMs);
      this.#ledger.take(entries);
    }
  }

  async story<B = unknown>(id: string): Promise<Story<B>> {
    const story = (await this.#caughtUp()).story(id);
    if (story === undefined) throw new Error(`nothing is known of a message "${id}"`);
    return story as Story<B>;
  }

  async stories<B = unknown>(): Promise<Story<B>[]> {
    return (await this.#caughtUp()).stories() as Story<B>[];
  }

  batches<B = unknown>(queue?: string): Batch<B>[] {
    const all = this.#ledger.batches as Batch<B>[];
    return queue === undefined ? [...all] : all.filter((batch) => batch.queue === queue);
  }

  async reset(): Promise<void> {
    await this.begin([]);
  }

  /** Begins anew with a history of faults. */
  begin(faults: Parameters<Host["calls"]["plan"]>[0]["faults"]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#host.empty();
      const { last } = await this.#host.calls.plan({ faults });
      this.#host.calls.forget();
      this.#ledger = new Ledger(last, this.#host.rewrite);
      this.#nowMs = this.#startMs;
    });
  }

  /** What happened to all messages, as of the last call that waited for the broker. */
  get knownStories(): Story[] {
    return this.#ledger.stories();
  }

  /** Faults that have come since the last `begin`. */
  get faults() {
    return this.#ledger.faults;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.dispose();
  }

  #run(limits: Limits): Promise<{ readonly progress: Progress; readonly reply: RunReply }> {
    return this.#inTurn(async () => {
      const { last } = this.#ledger;
      const defaults = { atMostMs: IDLE_MS_MAX, deliveriesMax: DELIVERIES_MAX };
      const reply = await this.#host.calls.run({ ...defaults, ...limits, after: last });
      const { nowMs, nextMs, isTooMuch } = reply;
      this.#nowMs = nowMs;
      const counts = this.#ledger.take(reply.entries);
      if (isTooMuch) {
        throw new Error(
          `More than ${limits.deliveriesMax ?? DELIVERIES_MAX} deliveries, and still not done: does something send to itself?`,
        );
      }
      return { progress: { ...counts, nextDue: nextMs === null ? null : new Date(nextMs) }, reply };
    });
  }

  /** What is known, with all that has happened by now. */
  async #caughtUp(): Promise<Ledger> {
    const ledger = this.#ledger;
    const { entries } = await this.#host.calls.log({ after: ledger.last, waitMs: 0 });
    ledger.take(entries);
    return ledger;
  }

  #inTurn<Result>(move: () => Promise<Result>): Promise<Result> {
    const moved = this.#moving.then(move, move);
    this.#moving = moved.catch(() => {});
    return moved;
  }

  #restMs(endsMs: number): number {
    return Math.max(0, Math.round(endsMs - performance.now()));
  }
}

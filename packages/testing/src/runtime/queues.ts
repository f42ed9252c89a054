import type { QueueProducer } from "@sluice/producer";
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
import type { PlanRequest, RunReply, RunRequest } from "../wire.ts";
import type { BrokerCalls } from "./broker-calls.ts";
import { failuresText } from "./errors.ts";
import { Ledger } from "./ledger.ts";
import { fits, nothingFits } from "./match.ts";
import { listed, refuseUnusableIdle, refuseUnusableWait } from "./options.ts";
import { queueHandle } from "./queue-handle.ts";

/** Default limit of deliveries for a call that moves the clock. */
const DELIVERIES_MAX = 10_000;
/** Furthest move of `runUntilIdle`, in ms. */
export const IDLE_MS_MAX = 31 * 86_400_000;
/** Real time in ms that `waitFor` waits once nothing is due. */
const WAIT_MS = 2_000;

type Limits = Pick<RunRequest, "forMs"> & Partial<Omit<RunRequest, "forMs" | "after">>;

/** The broker of a test, with its surroundings. */
export interface QueueHost {
  readonly calls: BrokerCalls;
  /** Maps stack traces to the user's sources. */
  readonly rewrite: (text: string) => string;
  /** Makes a producer for a queue. */
  producerOf(queue: string): QueueProducer;
  /** Ends every Durable Object and deletes its data. */
  empty(): Promise<void>;
}

/** The queues of a broker and their clock, for a test in Node.js or in a Worker. */
export class Queues
  implements Omit<QueueRuntime, "env" | "fetch" | "scheduled" | typeof Symbol.asyncDispose>
{
  readonly #host: QueueHost;
  readonly #startMs: number;
  #ledger: Ledger;
  #nowMs: number;
  /** Queues of the configurations, known after the broker's first answer. */
  #names: readonly string[] = [];
  /** Calls that move the clock, one after the other. */
  #moving: Promise<unknown> = Promise.resolve();

  constructor(host: QueueHost, startMs: number) {
    this.#host = host;
    this.#ledger = new Ledger(0, host.rewrite);
    this.#startMs = startMs;
    this.#nowMs = startMs;
  }

  get now(): Date {
    return new Date(this.#nowMs);
  }

  queue<B = unknown>(name: string): QueueHandle<B> {
    return queueHandle<B>(name, {
      calls: this.#host.calls,
      producer: this.#host.producerOf(name),
      ledger: () => this.#caughtUp(),
      refuseUnknown: () => this.#refuseUnknown(name),
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
    refuseUnusableIdle(options);
    const { limit = DELIVERIES_MAX, until, throwErrors = false } = options;
    const atMostMs = until === undefined ? IDLE_MS_MAX : msOf(until);
    const { progress } = await this.#run({ forMs: null, atMostMs, deliveriesMax: limit });
    const { errors } = progress;
    if (!throwErrors || errors.length === 0) return progress;
    throw errors.length === 1 ? errors[0] : new AggregateError(errors, failuresText(errors));
  }

  async waitFor<B = unknown>(match: MessageMatch<B>, options: WaitOptions = {}): Promise<Story<B>> {
    refuseUnusableWait(match as MessageMatch, options);
    const { within = 0, timeoutMs = WAIT_MS } = options;
    const withinMs = msOf(within);
    let untilMs: number | undefined;
    const endsMs = performance.now() + timeoutMs;
    let forMs = 0;
    for (;;) {
      const { reply } = await this.#run({ forMs });
      if (match.queue !== undefined) this.#refuseUnknown(match.queue);
      const found = this.#ledger.stories().find((story) => fits(story, match as MessageMatch));
      if (found !== undefined) return found as Story<B>;
      const { nowMs, nextMs } = reply;
      untilMs ??= nowMs + withinMs;
      if (nextMs !== null && nextMs <= untilMs) {
        forMs = Math.max(1, Math.ceil(nextMs) - this.#nowMs);
        continue;
      }
      // Code outside of the queues, such as a request that is under way, may still send.
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
    if (queue === undefined) return [...all];
    this.#refuseUnknown(queue);
    return all.filter((batch) => batch.queue === queue);
  }

  async reset(): Promise<void> {
    await this.begin([]);
  }

  /** Begins anew with a history of faults. */
  begin(faults: PlanRequest["faults"]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#host.empty();
      const { last } = await this.#host.calls.plan({ faults });
      this.#host.calls.forgetQueueIds();
      this.#ledger = new Ledger(last, this.#host.rewrite);
      this.#nowMs = this.#startMs;
    });
  }

  /** Stories of all messages, up to the last call that waited for the broker. */
  get knownStories(): Story[] {
    return this.#ledger.stories();
  }

  /** Faults that came since the last `begin`. */
  get faults() {
    return this.#ledger.faults;
  }

  /** Planned faults whose delivery has begun since the last `begin`. */
  get dueFaults() {
    return this.#ledger.dueFaults;
  }

  #run(limits: Limits): Promise<{ readonly progress: Progress; readonly reply: RunReply }> {
    return this.#inTurn(async () => {
      const { last } = this.#ledger;
      const defaults = { atMostMs: IDLE_MS_MAX, deliveriesMax: DELIVERIES_MAX };
      const reply = await this.#host.calls.run({ ...defaults, ...limits, after: last });
      const { nowMs, nextMs, isTooMuch, queues } = reply;
      this.#names = queues;
      this.#nowMs = nowMs;
      const counts = this.#ledger.take(reply.entries);
      if (isTooMuch) {
        const most = limits.deliveriesMax ?? DELIVERIES_MAX;
        throw new Error(`More than ${most} deliveries, and still not done: does something send to itself?`);
      }
      return { progress: { ...counts, nextDue: nextMs === null ? null : new Date(nextMs) }, reply };
    });
  }

  /** Adds everything that has happened by now to the ledger, and returns it. */
  async #caughtUp(): Promise<Ledger> {
    const ledger = this.#ledger;
    const { entries, queues } = await this.#host.calls.log({ after: ledger.last, waitMs: 0 });
    this.#names = queues;
    ledger.take(entries);
    return ledger;
  }

  /** @throws Error for a queue that no configuration names and in which nothing has happened. */
  #refuseUnknown(queue: string): void {
    const names = this.#names;
    if (names.length === 0 || names.includes(queue) || this.#ledger.queues.has(queue)) return;
    throw new Error(`Queue "${queue}" does not exist. There are ${listed(names)}.`);
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

import { counts } from "@sluice/engine";
import type { QueueFigures, WatchReply, WatchRequest } from "@sluice/protocol";
import type { QueueContext } from "../turn/context.ts";
import type { AwakeTime } from "../usage/awake-time.ts";
import { isUnderWay } from "./next-wake.ts";

/** Events that one answer has at most. */
export const WATCHED_EVENTS_MAX = 100;
/** Callers that wait at a time. The one that has waited longest is answered when another one comes. */
export const WATCHERS_MAX = 100;

interface Watcher {
  readonly request: WatchRequest;
  readonly answer: (reply: WatchReply) => void;
  readonly reject: (error: unknown) => void;
}

/** Parts of the queue that watchers use. */
type WatchedQueue = Pick<QueueContext, "queue" | "nowMs" | "history"> & Parameters<typeof isUnderWay>[0];

/**
 * Callers that wait for something to happen in a queue. Each call is answered once, as soon as there is something that
 * its caller has not seen and that is durable. It costs nothing while no call waits.
 */
export class Watchers {
  readonly #context: WatchedQueue;
  readonly #awake: AwakeTime;
  #waiting: Watcher[] = [];
  /** Callers that wait until nothing is under way. */
  #idle: PromiseWithResolvers<void> | null = null;

  /** @param awake counts the time in which calls wait. */
  constructor(context: WatchedQueue, awake: AwakeTime) {
    this.#context = context;
    this.#awake = awake;
  }

  /**
   * Reports what has happened since the caller's last call; at once if there is anything, or if it is the first one.
   */
  watch(request: WatchRequest): Promise<WatchReply> {
    const state = this.#state();
    if (request.state !== state) return Promise.resolve(this.#replyTo(request, state));
    const reply = new Promise<WatchReply>((answer, reject) => {
      const [longest] = this.#waiting;
      if (this.#waiting.length >= WATCHERS_MAX && longest !== undefined) {
        this.#waiting.shift();
        longest.answer(this.#replyTo(longest.request, state));
      }
      this.#waiting.push({ request, answer, reject });
    });
    return this.#awake.during(reply);
  }

  /** After a turn that is durable: answers those who have not seen what it did. */
  answer(): void {
    if (this.#waiting.length === 0) return;
    const state = this.#state();
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ request }) => request.state === state);
    for (const { request, answer } of waiting) {
      if (request.state !== state) answer(this.#replyTo(request, state));
    }
  }

  /** Resolves when nothing is under way: no delivery, no transfer, no move. */
  async idle(): Promise<void> {
    while (isUnderWay(this.#context)) {
      this.#idle ??= Promise.withResolvers();
      await this.#idle.promise;
    }
  }

  /** Whether a call waits for something to happen. */
  get isWatched(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether a call waits until nothing is under way. */
  get isIdleAwaited(): boolean {
    return this.#idle !== null;
  }

  /** Resolves `idle` if nothing is under way. */
  lookIdle(): void {
    if (this.#idle === null || isUnderWay(this.#context)) return;
    this.#idle.resolve();
    this.#idle = null;
  }

  /** Rejects all of them: the queue starts again, or is gone. */
  fail(error: unknown): void {
    this.#idle?.reject(error);
    this.#idle = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(error);
  }

  /** Makes a text that changes whenever anything has happened. */
  #state(): string {
    const { queue, history } = this.#context;
    const { ready, delayed, leased } = counts(queue);
    return `${history.lastNumber} ${history.noted} ${ready} ${delayed} ${leased}`;
  }

  #replyTo({ after, kinds }: WatchRequest, state: string): WatchReply {
    const { history } = this.#context;
    const last = history.lastNumber;
    const figures = this.#figures();
    if (after === null || after >= last) return { state, last, figures, events: [], isGap: false };
    const asked = { after, max: WATCHED_EVENTS_MAX, ...(kinds === undefined ? {} : { kinds }) };
    const { events, next } = history.list(asked);
    return { state, last, figures, events: [...events].reverse(), isGap: next !== null };
  }

  #figures(): QueueFigures {
    const { queue, nowMs, history, dispatcher, daemon } = this.#context;
    const { ready, delayed, leased, waitingBytes, oldestWaitingMs } = counts(queue);
    const { totals, tookMs, rates } = history;
    return {
      nowMs,
      ready,
      delayed,
      leased,
      backlogBytes: waitingBytes,
      oldestMessageTimestampMs: oldestWaitingMs ?? 0,
      isOn: history.isOn,
      totals,
      tookMs,
      ...(rates === undefined ? {} : { rates }),
      consumer: dispatcher.health ?? daemon.health,
    };
  }
}

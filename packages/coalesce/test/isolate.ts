import { AsyncLocalStorage } from "node:async_hooks";
import { randomFrom } from "@sluice/protocol";
import { CALL_LOST_MS, SharedCall, SharedCallLostError, type SharedCallPorts } from "../src/shared-call.ts";

/*
 * Requests that come, share calls and are ended by the platform at any moment, over a virtual clock and from a seed. A
 * request that was ended hears of no timer and of no answer any more; a call that it made is never answered.
 */

const REQUESTS = 60;
/** Weight that a call takes along. */
const WEIGHT_MAX = 20;
/** Longest time between two requests, in ms. */
const APART_MS_MAX = 12;
/** Longest that a call takes which is answered, in ms. */
export const CALL_MS_MAX = 400;

/** How a place that shares calls does it. */
export type SharingWay = Pick<SharedCallPorts<string, string>, "lingerMs">;

/** Settings of how a history's requests end. */
export interface Course {
  /** Share of the requests that the platform ends before they are answered. */
  readonly goneShare: number;
}

export interface Request {
  readonly item: string;
  readonly cameMs: number;
  isGone: boolean;
  settled: "answered" | "failed" | "lost" | "of another" | null;
  settledMs: number;
}

/** The request that runs. One for all isolates: Node copies as many as there are whenever it enters one. */
const CURRENT = new AsyncLocalStorage<Request>();

/** An isolate with its requests. */
export class Isolate {
  readonly requests: Request[] = [];
  /** How often each item went along with a call. */
  readonly carried = new Map<string, number>();
  readonly shared: SharedCall<string, string>;
  nowMs = 0;
  readonly #random: () => number;
  readonly #events: { readonly atMs: number; isCancelled: boolean; run(): void }[] = [];

  constructor(seed: number, way: SharingWay) {
    this.#random = randomFrom(seed);
    this.shared = new SharedCall({
      ...way,
      call: (items) => this.#call(items),
      weightOf: (item) => (Number(item) % 7 === 0 ? WEIGHT_MAX : 1),
      weightMax: WEIGHT_MAX,
      now: () => this.nowMs,
      setTimer: (ms, callback) => {
        const request = CURRENT.getStore();
        const event = this.after(ms, () => {
          if (request?.isGone !== true) callback();
        });
        return () => {
          event.isCancelled = true;
        };
      },
    });
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  below(end: number): number {
    return Math.floor(end * this.#random());
  }

  after(ms: number, run: () => void) {
    const event = { atMs: this.nowMs + ms, isCancelled: false, run };
    this.#events.push(event);
    return event;
  }

  come(): Request {
    const item = `${this.requests.length}`;
    const request: Request = { item, cameMs: this.nowMs, isGone: false, settled: null, settledMs: 0 };
    this.requests.push(request);
    const settle = (how: NonNullable<Request["settled"]>) => {
      request.settled = how;
      request.settledMs = this.nowMs;
    };
    CURRENT.run(request, () => {
      this.shared
        .run(item, () => {})
        .then(
          (result) => settle(result === `of ${item}` ? "answered" : "of another"),
          (error) => settle(error instanceof SharedCallLostError ? "lost" : "failed"),
        );
    });
    return request;
  }

  /** Lets the time pass until nothing happens any more that is due by then. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const due = this.#events.filter(({ atMs, isCancelled }) => !isCancelled && atMs <= endMs);
      const next = due.sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      next.isCancelled = true;
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.run();
    }
    this.nowMs = endMs;
  }

  #call(items: readonly string[]): Promise<readonly string[]> {
    const maker = CURRENT.getStore();
    for (const item of items) this.carried.set(item, (this.carried.get(item) ?? 0) + 1);
    const tookMs = this.chance(0.8) ? this.below(12) : this.below(CALL_MS_MAX);
    const fails = this.chance(0.05);
    return new Promise((resolve, reject) => {
      this.after(tookMs, () => {
        if (maker?.isGone === true) return;
        if (fails) reject(new Error("as drawn"));
        else resolve(items.map((item) => `of ${item}`));
      });
    });
  }
}

/** Plays a history. */
export async function playHistory(seed: number, course: Course, way: SharingWay): Promise<Isolate> {
  const isolate = new Isolate(seed, way);
  for (let i = 0; i < REQUESTS; i++) {
    const request = isolate.come();
    if (isolate.chance(course.goneShare)) {
      isolate.after(isolate.below(60), () => {
        if (request.settled === null) request.isGone = true;
      });
    }
    await isolate.pass(isolate.chance(0.5) ? 0 : isolate.below(APART_MS_MAX));
  }
  await isolate.pass(2 * CALL_LOST_MS);
  return isolate;
}

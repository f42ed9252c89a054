import { type HeapNode, TimeHeap } from "@sluice/engine";
import type { Random } from "@sluice/harness/random";

/** When every history begins, in ms since 1970. */
export const HISTORY_START_MS = 1_700_000_000_000;

/** Something that will happen, unless it is cancelled. */
export interface ScheduledEvent extends HeapNode {
  isCancelled: boolean;
  /** Decides between events of the same moment. Drawn from the seed, so all of their orders come up. */
  readonly seq: number;
  readonly run: () => void;
}

/**
 * The event loop of a history and its clock. Nothing waits for real time: the clock jumps to the next event, and which
 * one that is has been decided by the seed.
 */
export class VirtualLoop {
  nowMs = HISTORY_START_MS;
  /** Events taken so far: the number of the running one. */
  events = 0;
  readonly #events = new TimeHeap<ScheduledEvent>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Lets `run` happen `delayMs` from now, before or after what else is scheduled for then. */
  after(delayMs: number, run: () => void): ScheduledEvent {
    return this.at(this.nowMs + delayMs, run);
  }

  /** Resolves `delayMs` from now. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Lets `run` happen at a moment; at once for one that has passed. */
  at(atMs: number, run: () => void): ScheduledEvent {
    const event = { isCancelled: false, atMs, seq: this.#random.next(), at: -1, run };
    this.#events.push(event);
    return event;
  }

  /** Takes the next event out and moves the clock to it; `undefined` when nothing will ever happen any more. */
  next(): (() => void) | undefined {
    for (let event = this.#events.peek(); event !== undefined; event = this.#events.peek()) {
      this.#events.remove(event);
      if (event.isCancelled) continue;
      this.nowMs = Math.max(this.nowMs, event.atMs);
      this.events += 1;
      return event.run;
    }
    return undefined;
  }

  /** Moves the clock forward without letting anything happen: what was due meanwhile is late. */
  jump(ms: number): void {
    this.nowMs += ms;
  }
}

/** Resolves when every microtask has run: Node calls back from its tick queue only when there is none left. */
export function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

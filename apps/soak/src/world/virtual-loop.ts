import { type HeapNode, TimeHeap } from "@sluice/engine";
import type { Random } from "@sluice/harness/random";

/** Time at which every history begins, in ms since 1970. */
export const HISTORY_START_MS = 1_700_000_000_000;

/** Event that will happen, unless it is cancelled. */
export interface ScheduledEvent extends HeapNode {
  isCancelled: boolean;
  /** Order among events of the same moment. Drawn from the seed, so that every order comes up. */
  readonly seq: number;
  readonly run: () => void;
}

/**
 * The event loop of a history and its clock. Nothing waits for real time: the clock jumps to the next event. The seed
 * decides the order of events at one moment.
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

  /** Schedules `run` in `delayMs`, before or after other events of that moment. */
  after(delayMs: number, run: () => void): ScheduledEvent {
    return this.at(this.nowMs + delayMs, run);
  }

  /** Resolves `delayMs` from now. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Schedules `run` at a moment, or now if that has passed. */
  at(atMs: number, run: () => void): ScheduledEvent {
    const event = { isCancelled: false, atMs, seq: this.#random.next(), at: -1, run };
    this.#events.push(event);
    return event;
  }

  /** Takes the next event out and moves the clock to it; `undefined` if there is none. */
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

  /** Moves the clock forward without any event: those that were due meanwhile are late. */
  jump(ms: number): void {
    this.nowMs += ms;
  }
}

/** Resolves when every microtask has run: called from a microtask, `nextTick` waits until none is left. */
export function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

import type { Random } from "@sluice/harness/random";

/** When every history begins, in ms since 1970. */
export const HISTORY_START_MS = 1_700_000_000_000;

/** Something that will happen, unless it is cancelled. */
export interface ScheduledEvent {
  isCancelled: boolean;
  readonly atMs: number;
  /** Decides between events of the same moment. Drawn from the seed, so all of their orders come up. */
  readonly tie: number;
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
  readonly #heap: ScheduledEvent[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Lets `run` happen `delayMs` from now, before or after what else is scheduled for then. */
  after(delayMs: number, run: () => void): ScheduledEvent {
    return this.at(this.nowMs + delayMs, run);
  }

  /** Lets `run` happen at a moment; at once for one that has passed. */
  at(atMs: number, run: () => void): ScheduledEvent {
    const event = { isCancelled: false, atMs, tie: this.#random.next(), run };
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt] as ScheduledEvent; // parentAt < at < length
      if (!isBefore(event, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = event;
    return event;
  }

  /** Takes the next event out and moves the clock to it; `undefined` when nothing will ever happen any more. */
  next(): (() => void) | undefined {
    for (let event = this.#take(); event !== undefined; event = this.#take()) {
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

  #take(): ScheduledEvent | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(event: ScheduledEvent): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const leftAt = 2 * at + 1;
      const left = heap[leftAt];
      if (left === undefined) break;
      const right = heap[leftAt + 1];
      const [child, childAt] =
        right !== undefined && isBefore(right, left) ? [right, leftAt + 1] : [left, leftAt];
      if (!isBefore(child, event)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = event;
  }
}

function isBefore(a: ScheduledEvent, b: ScheduledEvent): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.tie < b.tie);
}

/** Resolves when every microtask has run: Node calls back from its tick queue only when there is none left. */
export function microtasksDone(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

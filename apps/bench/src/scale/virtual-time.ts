/** Events that run before other work of the process. */
const EVENTS_IN_A_ROW = 1_000;

interface Event {
  readonly atMs: number;
  /** Order among events of one moment: that of the calls of `after`. */
  readonly order: number;
  /** `null` once it is cancelled. */
  callback: (() => void) | null;
}

/**
 * Clock of a simulation, which jumps from event to event. Code that waits for promises goes on before the next event,
 * so real code with promises and timers runs in it.
 */
export class VirtualTime {
  #nowMs = 0;
  #order = 0;
  /** Binary heap by time and order. */
  readonly #events: Event[] = [];

  now(): number {
    return this.#nowMs;
  }

  /** Schedules `callback` in `ms`. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void {
    const event: Event = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, callback };
    this.#push(event);
    return () => {
      event.callback = null;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /** Runs all events up to a time, and leaves the clock there. */
  async runUntil(endMs: number): Promise<void> {
    while (this.#events.length > 0 && this.#first().atMs <= endMs) await this.#runSome(endMs);
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  /** Runs until no event is left. */
  async runOut(): Promise<void> {
    while (this.#events.length > 0) await this.#runSome(Number.POSITIVE_INFINITY);
  }

  /** Runs some events, each as an immediate: Node.js runs all microtasks after each of them. */
  #runSome(endMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      for (let i = 0; i < EVENTS_IN_A_ROW; i++) {
        setImmediate(() => {
          try {
            this.#runNext(endMs);
          } catch (error) {
            reject(error);
          }
        });
      }
      setImmediate(resolve);
    });
  }

  #runNext(endMs: number): void {
    for (;;) {
      if (this.#events.length === 0 || this.#first().atMs > endMs) return;
      const { atMs, callback } = this.#pop();
      if (callback === null) continue;
      this.#nowMs = atMs;
      callback();
      return;
    }
  }

  #first(): Event {
    return this.#events[0] as Event; // called only if there is one
  }

  #push(event: Event): void {
    const heap = this.#events;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break; // within the heap
      heap[at] = heap[parent] as Event;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event {
    const heap = this.#events;
    const first = this.#first();
    const last = heap.pop() as Event; // there is one
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

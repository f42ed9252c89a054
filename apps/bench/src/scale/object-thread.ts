import type { VirtualTime } from "./virtual-time.ts";

interface Work {
  readonly ms: number;
  done(): void;
}

/** The one thread of an object: work is done in the order in which it comes, a piece at a time. */
export class ObjectThread {
  readonly #time: VirtualTime;
  #waiting: Work[] = [];
  #next = 0;
  #isBusy = false;
  /** Time that the piece at hand takes beyond what it came with. */
  #moreMs = 0;
  #busyMs = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Time for which it has worked so far, in ms. */
  get busyMs(): number {
    return this.#busyMs;
  }

  /** Resolves when the work has been done. */
  run(ms: number): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ ms, done });
      if (!this.#isBusy) this.#begin();
    });
  }

  /** Makes what has just been done take longer: nothing else begins before. */
  hold(ms: number): void {
    this.#moreMs += ms;
    this.#busyMs += ms;
    if (!this.#isBusy) this.#rest();
  }

  #begin(): void {
    const work = this.#waiting[this.#next];
    if (work === undefined) {
      this.#waiting = [];
      this.#next = 0;
      this.#isBusy = false;
      return;
    }
    this.#next += 1;
    this.#isBusy = true;
    this.#busyMs += work.ms;
    this.#time.after(work.ms, () => {
      work.done();
      // Behind the promises that go on now, and may hold the thread.
      this.#time.after(0, () => this.#rest());
    });
  }

  /** Goes on when the thread is held no longer. */
  #rest(): void {
    this.#isBusy = true;
    const moreMs = this.#moreMs;
    this.#moreMs = 0;
    if (moreMs > 0) this.#time.after(moreMs, () => this.#rest());
    else this.#begin();
  }
}

import type { VirtualTime } from "./virtual-time.ts";

interface Work {
  readonly ms: number;
  done(): void;
}

/** The one thread of an object: it does work in the order in which it comes, a piece at a time. */
export class ObjectThread {
  readonly #time: VirtualTime;
  #waiting: Work[] = [];
  /** Index of the next piece in `#waiting`, since shifting a long array is slow. */
  #next = 0;
  #isBusy = false;
  /** Time of holds that the thread has not begun to wait for, in ms. */
  #holdMs = 0;
  #busyMs = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Time of all work and all holds that have begun, in ms. */
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

  /** Keeps the thread busy for `ms` after the piece that runs or has just ended, before the next one begins. */
  hold(ms: number): void {
    this.#holdMs += ms;
    this.#busyMs += ms;
    if (!this.#isBusy) this.#goOn();
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
      // After the callbacks of `done`, which may hold the thread.
      this.#time.after(0, () => this.#goOn());
    });
  }

  /** Waits for the holds, and then begins the next piece. */
  #goOn(): void {
    this.#isBusy = true;
    const holdMs = this.#holdMs;
    this.#holdMs = 0;
    if (holdMs > 0) this.#time.after(holdMs, () => this.#goOn());
    else this.#begin();
  }
}

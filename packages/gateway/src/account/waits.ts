/**
 * How long an announced end counts, in ms: longer than a process takes to end. A broker that still runs then lets
 * receives wait again.
 */
export const STOP_MS = 30_000;

/** Receives that wait for messages, so that they can be ended together. */
export class Waits {
  readonly #ends = new Set<() => Promise<void>>();
  readonly #now: () => number;
  #stoppedAtMs = Number.NEGATIVE_INFINITY;

  /** @param now goes on in ms, and never back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the process that listens is about to end: receives do not wait any more. */
  get isStopped(): boolean {
    return this.#now() - this.#stoppedAtMs < STOP_MS;
  }

  /** Adds a receive until `done` settles. `end` must make it settle soon. */
  during<Result>(done: Promise<Result>, end: () => Promise<void>): Promise<Result> {
    this.#ends.add(end);
    return done.finally(() => this.#ends.delete(end));
  }

  /** Ends all of them, and lets no other begin for `STOP_MS`. */
  async stop(): Promise<void> {
    this.#stoppedAtMs = this.#now();
    await Promise.allSettled([...this.#ends].map((end) => end()));
  }
}

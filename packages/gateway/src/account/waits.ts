/**
 * How long an announced end counts, in ms: longer than a process takes to end. A broker that still runs afterwards lets
 * requests wait again.
 */
export const STOP_MS = 30_000;

/** Requests that wait (receives of SQS, event streams), so that they can be ended together. */
export class Waits {
  readonly #ends = new Set<() => Promise<void>>();
  readonly #now: () => number;
  #stoppedAtMs = Number.NEGATIVE_INFINITY;

  /** @param now returns a time in ms that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the process that listens is about to end: no request may begin to wait. */
  get isStopped(): boolean {
    return this.#now() - this.#stoppedAtMs < STOP_MS;
  }

  /** Adds a request until `done` settles. `end` must make `done` settle soon. */
  during<Result>(done: Promise<Result>, end: () => Promise<void>): Promise<Result> {
    this.#ends.add(end);
    return done.finally(() => this.#ends.delete(end));
  }

  /** Ends all waits, and lets no other begin for `STOP_MS`. */
  async stop(): Promise<void> {
    this.#stoppedAtMs = this.#now();
    await Promise.allSettled([...this.#ends].map((end) => end()));
  }
}

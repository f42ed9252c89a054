/** Receives that wait for messages, so that they can be ended together. */
export class Waits {
  readonly #ends = new Set<() => Promise<void>>();
  #isStopped = false;

  /** Whether the process that listens is about to end: receives do not wait any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Adds a receive until `done` settles. `end` must make it settle soon. */
  during<Result>(done: Promise<Result>, end: () => Promise<void>): Promise<Result> {
    this.#ends.add(end);
    return done.finally(() => this.#ends.delete(end));
  }

  /** Ends all of them, and lets no other begin. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.allSettled([...this.#ends].map((end) => end()));
  }
}

/** Time between two looks at the count, in ms: workerd takes a request that waits without a timer for hung. */
const LOOK_MS = 100;

/** Messages that a consumer has handled, with their times from the send. */
export class Handled {
  #count = 0;
  #endToEndMs: number[] = [];
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  get count(): number {
    return this.#count;
  }

  get endToEndMs(): readonly number[] {
    return this.#endToEndMs;
  }

  reset(): void {
    this.#count = 0;
    this.#endToEndMs = [];
  }

  /** Enters a handled message. @param sentMs `sentMs` of its payload. */
  note(sentMs: string, nowMs: number): void {
    this.#endToEndMs.push(nowMs - Number(sentMs));
    this.#count += 1;
    if (this.#waiting.length > 0) this.#notify();
  }

  /** Resolves when `count` messages have been handled. */
  async reached(count: number): Promise<void> {
    while (this.#count < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push({ count, resolve });
      const timer = setTimeout(resolve, LOOK_MS);
      await promise;
      clearTimeout(timer);
    }
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ count }) => count > this.#count);
    for (const { count, resolve } of waiting) if (count <= this.#count) resolve();
  }
}

/** Counts what a consumer has handled, and how long it took from the send. */
export class Handled {
  #count = 0;
  #endToEndMs: number[] = [];

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

  /** @param sentMs `sentMs` of the payload. */
  note(sentMs: string, nowMs: number): void {
    this.#endToEndMs.push(nowMs - Number(sentMs));
    this.#count += 1;
  }

  /**
   * Resolves when `count` messages have been handled. It asks every millisecond: a promise that one request resolves
   * and another one awaits is what workerd forbids.
   */
  async reached(count: number): Promise<void> {
    while (this.#count < count) await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** The last deliveries of a queue, as far as its object remembers: how many of them failed. */
export class LastDeliveries {
  readonly #size: number;
  /** Failures of the last deliveries, the oldest first; `null` for one that went well. */
  readonly #last: (string | null)[] = [];
  #failed = 0;

  /** @param size deliveries that are remembered. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Takes the end of a delivery. @param failure why it failed; `null` if it did not. */
  ended(failure: string | null): void {
    this.#last.push(failure);
    if (failure !== null) this.#failed += 1;
    if (this.#last.length > this.#size && this.#last.shift() !== null) this.#failed -= 1;
  }

  /** Forgets all of them. */
  forget(): void {
    this.#last.length = 0;
    this.#failed = 0;
  }

  /** How many of them failed; `null` before there are as many as are remembered. */
  get failed(): number | null {
    return this.#last.length < this.#size ? null : this.#failed;
  }

  /** Reason of the last failure. */
  get reason(): string {
    return this.#last.findLast((failure) => failure !== null) ?? "";
  }
}

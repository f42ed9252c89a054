import type { Receiving } from "../ledger/named-receives.ts";

/** Receives that have arrived at a queue and are not answered. */
export class ReceivesUnderWay {
  readonly #epoch: () => number;
  #all: (Receiving & { readonly deadlineMs: number; readonly epoch: number })[] = [];
  #visible = 0;
  #begun = 0;

  /** @param epoch returns the number of the epoch that runs, or that the next call starts. */
  constructor(epoch: () => number) {
    this.#epoch = epoch;
  }

  /** Adds a receive that has arrived and waits until `deadlineMs` at most. Returns the function that removes it. */
  begin(receiving: Receiving, deadlineMs: number): () => void {
    const receive = { ...receiving, deadlineMs, epoch: this.#epoch() };
    this.#all.push(receive);
    this.#begun += 1;
    return () => {
      this.#all = this.#all.filter((other) => other !== receive);
    };
  }

  get count(): number {
    return this.#all.length;
  }

  /** Number of receives that have ever arrived. */
  get begun(): number {
    return this.#begun;
  }

  /** Receives that wait in the running epoch. */
  get waiting(): readonly Receiving[] {
    return this.#ofThisEpoch();
  }

  /** Time at which the first of them has to be answered, in ms; Infinity if none waits. */
  get deadlineMs(): number {
    return Math.min(...this.#ofThisEpoch().map(({ deadlineMs }) => deadlineMs));
  }

  /** Returns the next number for a receive that hides nothing: it has no lease id. */
  nextVisible(): number {
    this.#visible += 1;
    return this.#visible;
  }

  #ofThisEpoch() {
    const epoch = this.#epoch();
    return this.#all.filter((receive) => receive.epoch === epoch);
  }
}

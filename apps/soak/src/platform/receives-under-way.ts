import type { Receiving } from "../ledger/named-receives.ts";

/** Receives that have arrived at a queue and are not answered. */
export class ReceivesUnderWay {
  readonly #epoch: () => number;
  #all: (Receiving & { readonly deadlineMs: number; readonly epoch: number })[] = [];
  #visible = 0;
  #begun = 0;

  /** @param epoch number of the object that runs, or that the next call starts. */
  constructor(epoch: () => number) {
    this.#epoch = epoch;
  }

  /** A receive has arrived that waits until `deadlineMs` at the latest. Returns what says that it is answered. */
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

  /** How many have arrived, ever. */
  get begun(): number {
    return this.#begun;
  }

  /** Those that wait for the running object. */
  get waiting(): readonly Receiving[] {
    return this.#ofThisEpoch();
  }

  /** When the first of them has to be answered, in ms; Infinity if nobody waits. */
  get deadlineMs(): number {
    return Math.min(...this.#ofThisEpoch().map(({ deadlineMs }) => deadlineMs));
  }

  /** The next number of a receive that hides nothing: it has no lease. */
  nextVisible(): number {
    this.#visible += 1;
    return this.#visible;
  }

  #ofThisEpoch() {
    const epoch = this.#epoch();
    return this.#all.filter((receive) => receive.epoch === epoch);
  }
}

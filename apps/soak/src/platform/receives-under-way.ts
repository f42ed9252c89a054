import type { Receiving } from "../ledger/named-receives.ts";

/** Receives that have arrived at a queue and are not answered. */
export class ReceivesUnderWay {
  readonly #life: () => number;
  #all: (Receiving & { readonly deadlineMs: number; readonly life: number })[] = [];
  #visible = 0;
  #begun = 0;

  /** @param life number of the object that runs, or that the next call starts. */
  constructor(life: () => number) {
    this.#life = life;
  }

  /** A receive has arrived that waits until `deadlineMs` at the latest. Returns what says that it is answered. */
  begin(receiving: Receiving, deadlineMs: number): () => void {
    const receive = { ...receiving, deadlineMs, life: this.#life() };
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
    return this.#ofThisLife();
  }

  /** When the first of them has to be answered, in ms; Infinity if nobody waits. */
  get deadlineMs(): number {
    return Math.min(...this.#ofThisLife().map(({ deadlineMs }) => deadlineMs));
  }

  /** The next number of a receive that hides nothing: it has no lease. */
  nextVisible(): number {
    this.#visible += 1;
    return this.#visible;
  }

  #ofThisLife() {
    const life = this.#life();
    return this.#all.filter((receive) => receive.life === life);
  }
}

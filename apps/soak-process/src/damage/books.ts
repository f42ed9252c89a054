import { bodyOf, tagOf } from "../load/body.ts";

/** A message that was acknowledged to its producer, and what its handler has done with it so far. */
export interface Entry {
  readonly tag: number;
  readonly queue: string;
  readonly bytes: number;
  /** Whether it was settled for good before the damage. */
  isSettled: boolean;
}

/** What came out of a queue together. */
export interface DeliveredBatch {
  readonly queue: string;
  readonly messages: readonly { readonly body: string }[];
}

/** What was delivered after the damage, against what was owed. */
export class Books {
  readonly #entries: ReadonlyMap<number, Entry>;
  readonly #delivered = new Set<number>();
  /** Texts that nobody sent, or that came out of the wrong queue. */
  readonly foreign: string[] = [];

  constructor(entries: Iterable<Entry>) {
    this.#entries = new Map(Array.from(entries, (entry) => [entry.tag, entry]));
  }

  get deliveredCount(): number {
    return this.#delivered.size;
  }

  delivered({ queue, messages }: DeliveredBatch): void {
    for (const { body } of messages) {
      const entry = this.#entries.get(tagOf(body) ?? -1);
      if (entry === undefined || entry.queue !== queue || bodyOf(entry.tag, entry.bytes) !== body) {
        this.foreign.push(`queue "${queue}" delivered "${body.slice(0, 40)}", which nobody sent to it`);
      } else this.#delivered.add(entry.tag);
    }
  }

  /** Messages of a queue that were owed and have not come. */
  missing(queue: string): number {
    return this.#count(
      (entry) => entry.queue === queue && !entry.isSettled && !this.#delivered.has(entry.tag),
    );
  }

  /** Messages of a queue that had been settled for good and came again. */
  again(queue: string): number {
    return this.#count((entry) => entry.queue === queue && entry.isSettled && this.#delivered.has(entry.tag));
  }

  owed(queue: string): number {
    return this.#count((entry) => entry.queue === queue && !entry.isSettled);
  }

  #count(counts: (entry: Entry) => boolean): number {
    let count = 0;
    for (const entry of this.#entries.values()) if (counts(entry)) count += 1;
    return count;
  }
}

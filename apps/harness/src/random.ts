/** Generator of random numbers that depend on the seed alone (sfc32). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed any integer from 0 to 2^53 - 1; neighbouring seeds give unrelated numbers. */
  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 2 ** 32) | 0;
    this.#c = 0x9e3779b9 | 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** Draws a whole number from 0 to 2^32 - 1. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Draws a whole number from 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.fraction() * n);
  }

  /** Draws a whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** Draws a number from 0 to below 1. */
  fraction(): number {
    return this.next() / 2 ** 32;
  }

  /** Draws true with the given probability. For 0 it draws no number, so that a fault that is off shifts no others. */
  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability * 2 ** 32;
  }

  pick<const Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] as Item; // below(n) < n
  }

  /** Makes another generator, so that the draws of one part do not shift those of another. */
  fork(): Random {
    return new Random(this.next());
  }
}

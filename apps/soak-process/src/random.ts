/** Random numbers that are the same for the same seed. What happens between two of them is up to the machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<const Items extends readonly [unknown, ...unknown[]]>(items: Items): Items[number] {
    return items[this.int(0, items.length - 1)] ?? items[0];
  }

  /** A generator of its own, so that what one part draws does not shift what another one gets. */
  fork(): Random {
    return new Random(this.int(0, 0x7fff_ffff));
  }
}

import { randomFrom } from "@sluice/protocol";

/** Random choices that follow from a seed: the same calls return the same values. */
export interface Random {
  /** Returns a whole number, `min` to `max` inclusive. Throws a `RangeError` unless both are whole and `min <= max`. */
  integer(min: number, max: number): number;
  boolean(): boolean;
  /** Returns one of the values. Throws a `RangeError` if there is none. */
  pick<T>(from: readonly T[]): T;
}

/**
 * Makes choices by a seed or repeats given ones, and records each as a number: its distance from the smallest value
 * possible. `shrink` makes a history smaller by lowering them, whatever they decide. A missing choice counts as 0.
 */
export class Choices implements Random {
  /** Choices so far. */
  readonly made: number[] = [];
  readonly #next: () => number;
  readonly #given: readonly number[] | null;

  /** @param given choices to repeat, in place of those of the seed. */
  constructor(seed: number, given: readonly number[] | null = null) {
    this.#next = randomFrom(seed);
    this.#given = given;
  }

  integer(min: number, max: number): number {
    if (!(Number.isInteger(min) && Number.isInteger(max) && min <= max)) {
      throw new RangeError(`random.integer(${min}, ${max}): whole numbers, the smaller one first`);
    }
    const distanceMax = max - min;
    const chosen =
      this.#given === null
        ? Math.floor(this.#next() * (distanceMax + 1))
        : Math.min(distanceMax, this.#given[this.made.length] ?? 0); // fewer values after a lowered earlier choice
    this.made.push(chosen);
    return min + chosen;
  }

  boolean(): boolean {
    return this.integer(0, 1) === 1;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new RangeError("random.pick: there is nothing to pick from");
    return from[this.integer(0, from.length - 1)] as T; // the index is within
  }
}

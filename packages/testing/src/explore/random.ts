import { randomFrom } from "@sluice/protocol";

/** Random choices that follow from a seed: the same calls return the same values. */
export interface Random {
  /** Returns a whole number from `min` to `max`, both included. Throws a `RangeError` if there is none. */
  integer(min: number, max: number): number;
  boolean(): boolean;
  /** Returns one of the values. Throws a `RangeError` if there is none. */
  pick<T>(from: readonly T[]): T;
}

/**
 * Records choices as data: the distance of each from the least possible one. A history becomes smaller with smaller
 * choices, whatever they decide; a missing choice is the least one.
 */
export class Choices implements Random {
  /** Choices so far. */
  readonly made: number[] = [];
  readonly #next: () => number;
  readonly #given: readonly number[] | null;

  /** @param given choices to repeat. Default: those of the seed. */
  constructor(seed: number, given: readonly number[] | null = null) {
    this.#next = randomFrom(seed);
    this.#given = given;
  }

  integer(min: number, max: number): number {
    if (!(Number.isInteger(min) && Number.isInteger(max) && min <= max)) {
      throw new RangeError(`random.integer(${min}, ${max}): whole numbers, the smaller one first`);
    }
    const room = max - min;
    const chosen =
      this.#given === null
        ? Math.floor(this.#next() * (room + 1))
        : Math.min(room, this.#given[this.made.length] ?? 0);
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

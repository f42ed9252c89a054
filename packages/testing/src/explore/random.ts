import { randomFrom } from "@sluice/protocol";

/** Chance that follows from a seed: the same calls get the same answers. */
export interface Random {
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  boolean(): boolean;
  /** One of them. @throws RangeError for none. */
  pick<T>(from: readonly T[]): T;
}

/**
 * Chance whose choices are data: how far each is above the least that it could have been. So a history is made smaller
 * by smaller choices, without knowing what they are of; choices that are missing are the least.
 */
export class Choices implements Random {
  /** Choices that were made so far. */
  readonly made: number[] = [];
  readonly #next: () => number;
  readonly #given: readonly number[] | null;

  /** @param given choices to make again. Default: what follows from the seed. */
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

import { describe, expect, it } from "vitest";
import { Random } from "./random.ts";

describe("Random", () => {
  it("draws the same numbers for the same seed and others for another", () => {
    const draw = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 20 }, () => random.int(0, 1_000_000));
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it("draws whole numbers from one bound to the other", () => {
    const random = new Random(1);
    const drawn = new Set(Array.from({ length: 1_000 }, () => random.int(3, 6)));
    expect([...drawn].sort()).toEqual([3, 4, 5, 6]);
  });
});

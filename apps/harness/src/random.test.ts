import { describe, expect, it } from "vitest";
import { Random } from "./random.ts";

const draw = (seed: number, count: number) => {
  const random = new Random(seed);
  return Array.from({ length: count }, () => random.next());
};

describe("numbers drawn from a seed", () => {
  it("are the same for the same seed and others for another one, beyond 32 bits too", () => {
    expect(draw(7, 50)).toEqual(draw(7, 50));
    expect(draw(7, 50)).not.toEqual(draw(8, 50));
    expect(draw(7, 50)).not.toEqual(draw(7 + 2 ** 32, 50));
  });

  it("are spread evenly", () => {
    const random = new Random(1);
    const hits = [0, 0, 0, 0, 0];
    for (let i = 0; i < 50_000; i++) {
      const drawn = random.below(5);
      hits[drawn] = (hits[drawn] ?? 0) + 1;
    }
    for (const count of hits) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it("stay within their bounds and reach both", () => {
    const random = new Random(2);
    const drawn = new Set(Array.from({ length: 1_000 }, () => random.between(3, 6)));
    expect([...drawn].sort()).toEqual([3, 4, 5, 6]);
  });

  it("decide by their probability, and draw nothing for what cannot happen", () => {
    const random = new Random(3);
    const happened = Array.from({ length: 10_000 }, () => random.chance(0.3)).filter(Boolean).length;
    expect(Math.abs(happened - 3_000)).toBeLessThan(200);
    const other = new Random(4);
    expect(other.chance(0)).toBe(false);
    expect(other.next()).toBe(new Random(4).next());
  });
});

import { expect, it } from "vitest";
import { Choices } from "./random.ts";

const some = (random: Choices) => [
  random.integer(3, 9),
  random.boolean(),
  random.pick(["a", "b", "c"]),
  random.integer(0, 1e9),
];

it("random follows from its seed, and is repeated by its choices", () => {
  const first = new Choices(4);
  const values = some(first);
  expect(some(new Choices(4))).toEqual(values);
  expect(some(new Choices(99, first.made))).toEqual(values);
  expect(some(new Choices(5))).not.toEqual(values);
});

it("random takes the least for a missing choice, and the most for one that is too large", () => {
  expect(some(new Choices(4, []))).toEqual([3, false, "a", 0]);
  expect(some(new Choices(4, [100, 7, 100]))).toEqual([9, true, "c", 0]);
});

it("random.integer reaches both ends", () => {
  const random = new Choices(1);
  expect(new Set(Array.from({ length: 200 }, () => random.integer(-1, 2)))).toEqual(new Set([-1, 0, 1, 2]));
});

it.each([
  [2, 1],
  [0.5, 2],
  [0, Infinity],
])("random.integer refuses %d to %d", (min, max) =>
  expect(() => new Choices(1).integer(min, max)).toThrow(RangeError),
);

it("random.pick refuses an empty list", () => expect(() => new Choices(1).pick([])).toThrow(RangeError));

import { expect, it } from "vitest";
import { randomId, randomUuid } from "./random-uuid.ts";

it("makes UUIDs of version 4, no two alike", () => {
  const made = Array.from({ length: 1_000 }, () => randomUuid());
  for (const uuid of made)
    expect(uuid).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(new Set(made).size).toBe(made.length);
});

it("keeps the bytes of each id for as long as somebody may read them", () => {
  const ids = Array.from({ length: 200 }, () => randomId());
  for (const { text, bytes, from } of ids)
    expect(Buffer.from(bytes.subarray(from, from + 16)).toString("hex")).toBe(text.replaceAll("-", ""));
});

it("has every digit in every place that is random", () => {
  const places = Array.from({ length: 36 }, () => new Set<string>());
  for (let i = 0; i < 1_000; i++)
    for (const [at, digit] of [...randomUuid()].entries()) places[at]?.add(digit);
  const counts = places.map(({ size }) => size);
  const random = (count: number) => Array<number>(count).fill(16);
  expect(counts).toEqual([
    ...random(8),
    1,
    ...random(4),
    1,
    1,
    ...random(3),
    1,
    4,
    ...random(3),
    1,
    ...random(12),
  ]);
});

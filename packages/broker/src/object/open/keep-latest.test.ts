import { expect, it } from "vitest";
import { keepLatest } from "./keep-latest.ts";

it("makes a result once for an object, and anew for another one", () => {
  let made = 0;
  const of = keepLatest((_: object) => (made += 1));
  const [first, second] = [{}, {}];
  expect([of(first), of(first), of(second), of(second), of(first)]).toEqual([1, 1, 2, 2, 3]);
});

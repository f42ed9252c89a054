import { expect, it } from "vitest";
import { placeInList, rememberOrder } from "./list-order.ts";

const [a, b, c] = ["a", "b", "c"].map((id) => ({ id, ref: `ref-${id}` })) as [never, never, never];

it("a message that was opened from a list has the messages beside it", () => {
  expect(placeInList("orders", "a")).toBeNull();
  rememberOrder("orders", [a, b, c]);
  expect(placeInList("orders", "a")).toEqual({ position: 1, of: 3, previous: null, next: b });
  expect(placeInList("orders", "b")).toEqual({ position: 2, of: 3, previous: a, next: c });
  expect(placeInList("orders", "c")).toEqual({ position: 3, of: 3, previous: b, next: null });
});

it("a message of another queue or list has none", () => {
  rememberOrder("orders", [a]);
  expect(placeInList("orders-dead", "a")).toBeNull();
  expect(placeInList("orders", "b")).toBeNull();
});

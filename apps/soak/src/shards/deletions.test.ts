import { expect, it } from "vitest";
import { Deletions } from "./deletions.ts";

it("a record is of the queue that was created after the last deletion before it", () => {
  const deletions = new Deletions();
  deletions.add("orders", 10);
  deletions.add("orders", 20);
  deletions.add("other", 30);
  const found = [9, 11, 19, 21, 31].map((revision) => deletions.asOf("orders", revision));
  expect(found).toEqual([0, 10, 10, 20, 20]);
  expect(deletions.latest("orders")).toBe(20);
});

it("a queue that was never deleted is the first of its name", () => {
  const deletions = new Deletions();
  expect(deletions.asOf("orders", 5)).toBe(0);
  expect(deletions.latest("orders")).toBe(0);
});

import { expect, it } from "vitest";
import { FAULT_KINDS } from "../api.ts";
import { faultsOf, seedOf } from "./histories.ts";

it("follow from the seed", () => {
  expect(faultsOf(5, 30)).toEqual(faultsOf(5, 30));
  expect(faultsOf(5, 30)).not.toEqual(faultsOf(6, 30));
  expect(new Set(Array.from({ length: 1_000 }, (_, i) => seedOf(5, i))).size).toBe(1_000);
});

it("begin with one kind each, and have each kind and some without it among a hundred", () => {
  for (const [i, kind] of FAULT_KINDS.entries()) {
    expect(new Set(faultsOf(1, i).map((fault) => fault.kind))).toEqual(new Set([kind]));
  }
  const later = Array.from({ length: 100 }, (_, i) => new Set(faultsOf(1, i + 7).map(({ kind }) => kind)));
  for (const kind of FAULT_KINDS) {
    const having = later.filter((kinds) => kinds.has(kind)).length;
    expect([kind, having > 20 && having < 80]).toEqual([kind, true]);
  }
});

it("have one fault for a delivery at most", () => {
  const places = faultsOf(3, 3).map(({ message, attempt }) => `${message} ${attempt}`);
  expect(new Set(places).size).toBe(places.length);
});

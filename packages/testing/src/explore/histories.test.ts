import { expect, it } from "vitest";
import { FAULT_KINDS } from "../api.ts";
import { faultsOf, seedOf } from "./histories.ts";

it("the faults of histories follow from the seed", () => {
  expect(faultsOf(5, 30)).toEqual(faultsOf(5, 30));
  expect(faultsOf(5, 30)).not.toEqual(faultsOf(6, 30));
  expect(new Set(Array.from({ length: 1_000 }, (_, i) => seedOf(5, i))).size).toBe(1_000);
});

it("the first histories have one kind of fault each, and a hundred have each kind and lack it", () => {
  for (const [i, kind] of FAULT_KINDS.entries()) {
    expect(new Set(faultsOf(1, 2 * i).map((fault) => fault.kind))).toEqual(new Set([kind]));
  }
  const later = Array.from({ length: 100 }, (_, i) => {
    return new Set(faultsOf(1, i + 2 * FAULT_KINDS.length).map(({ kind }) => kind));
  });
  for (const kind of FAULT_KINDS) {
    const having = later.filter((kinds) => kinds.has(kind)).length;
    expect([kind, having > 20 && having < 80]).toEqual([kind, true]);
  }
});

it("every other of the first histories ends each message's first handler after a later call", () => {
  const ends = [1, 3, 5].map((i) => faultsOf(1, i));
  expect(ends.map(([first]) => first)).toEqual(
    [1, 2, 3].map((arg) => ({ kind: "endAfter", message: 1, attempt: 1, arg })),
  );
  expect(new Set(ends.flat().map(({ message }) => message)).size).toBe(24);
});

it("histories end handlers at every call up to the 32nd, at the first calls most often", () => {
  const ends = Array.from({ length: 400 }, (_, i) => faultsOf(2, i + 2 * FAULT_KINDS.length)).flat();
  const calls = ends.flatMap(({ kind, arg }) =>
    kind === "endAfter" || kind === "endBefore" ? (arg ?? 0) : [],
  );
  expect([...new Set(calls)].sort((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, i) => i + 1));
  expect(calls.filter((call) => call <= 8).length).toBeGreaterThan(calls.length * 0.4);
});

it("histories have at most one fault for a delivery", () => {
  const places = faultsOf(3, 3).map(({ message, attempt }) => `${message} ${attempt}`);
  expect(new Set(places).size).toBe(places.length);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { deadLetterCycles } from "./dead-letter-cycles.ts";

function cyclesOf(deadLetterQueues: Readonly<Record<string, string>>): string[][] {
  return deadLetterCycles(Object.keys(deadLetterQueues), (queue) => deadLetterQueues[queue]);
}

test("a chain is no circle", () => {
  expect(cyclesOf({ a: "b", b: "c", d: "b" })).toEqual([]);
});

test("a queue that is its own dead-letter queue is a circle of one", () => {
  expect(cyclesOf({ a: "a" })).toEqual([["a"]]);
});

test("a circle is found once, without the queues that lead into it", () => {
  expect(cyclesOf({ x: "a", a: "b", b: "c", c: "a", y: "b" })).toEqual([["a", "b", "c"]]);
});

test("all circles are found", () => {
  expect(cyclesOf({ a: "b", b: "a", c: "c", d: "e", e: "d" })).toEqual([["a", "b"], ["c"], ["d", "e"]]);
});

test("a queue is in a circle exactly when its dead letters come back to it", () => {
  const names = fc.constantFrom("a", "b", "c", "d", "e", "f");
  fc.assert(
    fc.property(fc.dictionary(names, names, { noNullPrototype: true }), (next) => {
      const comesBack = (queue: string) => {
        let at = next[queue];
        for (let i = 0; i < 6 && at !== undefined && at !== queue; i++) at = next[at];
        return at === queue;
      };
      expect(cyclesOf(next).flat().sort()).toEqual(Object.keys(next).filter(comesBack).sort());
    }),
  );
});

import { LOG_LINE_UNITS_MAX } from "@sluice/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { printedText } from "./printed-text.ts";

class Order {
  id = 7;
  get total(): number {
    throw new Error("asked for");
  }
}

const circle: { self?: unknown; list: unknown[] } = { list: [] };
circle.self = circle;
circle.list.push(circle);

it.each<[readonly unknown[], string]>([
  [[], ""],
  [["lamp"], "lamp"],
  [["lamp", 1, true, null, undefined, 5n, Symbol("s")], "lamp 1 true null undefined 5n Symbol(s)"],
  [[{ a: 1, "b c": "it's", d: { e: [1, "two"] } }], "{ a: 1, 'b c': 'it\\'s', d: { e: [ 1, 'two' ] } }"],
  [[[], {}, new Map([["k", { v: 1 }]]), new Set([1])], "[] {} Map(1) { 'k' => { v: 1 } } Set(1) { 1 }"],
  [[new Uint8Array([1, 2]), new BigInt64Array([3n])], "Uint8Array(2) [ 1, 2 ] BigInt64Array(1) [ 3n ]"],
  [[new Order(), Object.create(null)], "Order { id: 7 } [Object: null prototype] {}"],
  [[new Date(0), new Date(Number.NaN), /a/g], "1970-01-01T00:00:00.000Z Invalid Date /a/g"],
  [[() => {}, printedText], "[Function: (anonymous)] [Function: printedText]"],
  [[circle], "{ list: [ [Circular] ], self: [Circular] }"],
  [[{ a: { b: { c: { d: { e: 1 } } } } }], "{ a: { b: { c: { d: [Object] } } } }"],
  [
    ["%s has %d of %i, %f%% %c%j", "shop", "3", 2.9, "1.5", "color: red", { a: 1 }],
    "shop has 3 of 2, 1.5% { a: 1 }",
  ],
  [["%s and %s", "one"], "one and %s"],
  [["100 %", 5], "100 % 5"],
])("arguments are printed as a text, case %#", (args, text) => {
  expect(printedText(args)).toBe(text);
});

it("an error is printed with its stack, and those of its causes", () => {
  const text = printedText(["failed", new TypeError("above", { cause: new Error("below") })]);
  expect(text).toMatch(/^failed TypeError: above\n {4}at [\s\S]*\nCaused by: Error: below\n {4}at /);
});

it("an error has the place of the user's code, whatever its message and the runtime's frames take", () => {
  const error = new Error("x".repeat(3_000));
  const runtime = "\n    at D1.send (cloudflare-internal:d1-api:140:19)".repeat(60);
  const frame = "\n    at charge (file:///tmp/entry.js:25:42)";
  error.stack = `Error: ${error.message}${runtime}${frame}${runtime}`;
  const text = printedText(["charging", error]);
  expect(text).toMatch(/^charging Error: x{900,}…\n {4}at charge \(file:\/\/\/tmp\/entry\.js:25:42\)$/);
  expect(text).not.toContain("cloudflare-internal");
});

it("no getter is called, and what a proxy or an error throws is caught", () => {
  let calls = 0;
  const getter = Object.defineProperty({}, "secret", { enumerable: true, get: () => (calls += 1) });
  expect(printedText([getter])).toBe("{ secret: [Getter] }");
  expect(calls).toBe(0);
  const throwing = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("trap");
      },
    },
  );
  expect(printedText(["before", throwing])).toBe("before [cannot be shown]");
  const error = Object.defineProperty(new Error("x"), "stack", {
    get: () => {
      throw new Error("getter");
    },
  });
  expect(printedText([error])).toBe("[cannot be shown]");
});

it.each([-1, 0, 1])("a line has a limit, at %i of it", (more) => {
  const text = printedText(["x".repeat(LOG_LINE_UNITS_MAX + more)]);
  expect(text).toHaveLength(Math.min(LOG_LINE_UNITS_MAX + more, LOG_LINE_UNITS_MAX));
  expect(text.endsWith("…")).toBe(more > 0);
});

it.each([-1, 0, 1])("the members of a list have a limit, at %i of it", (more) => {
  const text = printedText([Array<number>(100 + more).fill(0)]);
  expect(text.endsWith("0, … 1 more ]")).toBe(more > 0);
  expect(text.match(/0,|0 ]/g)).toHaveLength(Math.min(100, 100 + more));
});

it("nothing that is printed breaks it or is longer than the limit", () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withSparseArray: true,
    maxDepth: 5,
  });
  fc.assert(
    fc.property(
      fc.array(fc.oneof(anything, fc.string({ unit: fc.constantFrom("%", "s", "d", "c", "x") }))),
      (args) => {
        expect(printedText(args).length).toBeLessThanOrEqual(LOG_LINE_UNITS_MAX);
      },
    ),
  );
});

it("a sparse list of a billion members and a deep object cost no more than others", () => {
  const huge: unknown[] = [];
  huge.length = 1_000_000_000;
  expect(printedText([huge])).toContain("… 999999900 more");
  let deep: object = {};
  for (let i = 0; i < 100_000; i++) deep = { deep };
  expect(printedText([deep])).toBe("{ deep: { deep: { deep: { deep: [Object] } } } }");
});

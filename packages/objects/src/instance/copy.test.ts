import fc from "fast-check";
import { expect, it } from "vitest";
import { copyOf } from "./copy.ts";

it("a copy of what an object is given is as structuredClone makes it, whatever it is made of", () => {
  const values = fc.anything({
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withBigInt: true,
    withSparseArray: false,
    maxDepth: 5,
  });
  fc.assert(
    fc.property(values, (value) => {
      expect(copyOf(value)).toEqual(structuredClone(value));
    }),
  );
});

it("a copy of what an object is given shares no memory with the original", () => {
  const original = { packed: new Uint8Array([1, 2]), list: [{ n: 1 }], buffer: new ArrayBuffer(1) };
  const copy = copyOf(original) as typeof original;
  original.packed[0] = 9;
  original.list[0] = { n: 9 };
  new Uint8Array(original.buffer)[0] = 9;
  expect(copy).toEqual({ packed: new Uint8Array([1, 2]), list: [{ n: 1 }], buffer: new ArrayBuffer(1) });
});

it("a copy of what an object is given takes of bytes only those that are looked at, as a Uint8Array with memory to itself", () => {
  const pooled = Buffer.from("abc");
  expect(pooled.buffer.byteLength).toBeGreaterThan(3);
  const copy = copyOf(pooled) as Uint8Array;
  expect(copy.constructor).toBe(Uint8Array);
  expect([...copy]).toEqual([97, 98, 99]);
  expect(copy.buffer.byteLength).toBe(3);
});

it("a copy of what an object is given has a property that is called __proto__ as any other", () => {
  const copy = copyOf(JSON.parse('{"__proto__": {"a": 1}, "b": 2}')) as object;
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  expect(Object.getOwnPropertyDescriptor(copy, "__proto__")?.value).toEqual({ a: 1 });
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":1},"b":2}');
});

it("a copy of what an object is given holds itself where the original does, and is as deep", () => {
  const circle: Record<string, unknown> = { n: 1 };
  circle.self = circle;
  let inner = copyOf(circle) as Record<string, unknown>;
  for (let depth = 0; depth < 1_000; depth++) inner = inner.self as Record<string, unknown>;
  expect(inner.n).toBe(1);
  let deep: unknown = "bottom";
  for (let depth = 0; depth < 200; depth++) deep = [{ deep }];
  expect(copyOf(deep)).toEqual(deep);
});

it("a copy of what an object is given is refused for functions, symbols and instances of classes", () => {
  class Point {
    readonly x = 1;
  }
  for (const value of [() => 1, Symbol("s"), new Point(), { deep: [new Point()] }, Promise.resolve()]) {
    expect(() => copyOf(value)).toThrow(expect.objectContaining({ name: "DataCloneError" }));
  }
  expect(() => copyOf(new Point())).toThrow('Could not serialize object of type "Point"');
});

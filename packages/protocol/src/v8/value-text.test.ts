import { serialize } from "node:v8";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serializeClone } from "./body.ts";
import { valueText } from "./value-text.ts";

// Node.js writes only typed arrays in a format of its own.
const serialized = (value: unknown) => new Uint8Array(serialize(value));
const ours = (value: unknown) => new TextEncoder().encode(serializeClone(value));

describe("a structured clone", () => {
  it.each<[unknown, string]>([
    [null, "null"],
    [undefined, "undefined"],
    [true, "true"],
    [-7, "-7"],
    [2 ** 40, "1099511627776"],
    [-0, "-0"],
    [0.1, "0.1"],
    [-(2n ** 70n), "-1180591620717411303424n"],
    ["ü", '"ü"'],
    ["日本 \ud83d\ude00", '"日本 😀"'],
    [{}, "{}"],
    [[], "[]"],
    [{ a: 1, "b c": [true, null] }, '{\n  a: 1,\n  "b c": [\n    true,\n    null\n  ]\n}'],
    [new Date(0), "Date 1970-01-01T00:00:00.000Z"],
    [new Date(Number.NaN), "Date invalid"],
    [new Map([["k", new Set([1])]]), 'Map {\n  "k" => Set {\n    1\n  }\n}'],
    [/a+/gi, "/a+/gi"],
    [Object("s"), 'String("s")'],
    [new Uint8Array([1, 255]).buffer, "ArrayBuffer <01 ff>"],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
    [[1, , 3], "Array(3) {\n  0: 1,\n  2: 3\n}"],
  ])("reads as people write it: value %#", (value, text) => {
    expect(valueText(serialized(value))).toBe(text);
    expect(valueText(ours(value))).toBe(text);
  });

  it("has an error with its stack, and an object that comes twice once", () => {
    const error = new TypeError("no lamp");
    expect(valueText(serialized(error))).toBe(error.stack);
    expect(valueText(ours(error))).toBe(error.stack);
    const one = { x: 1 };
    expect(valueText(serialized([one, one]))).toBe("[\n  {\n    x: 1\n  },\n  [object 1 again]\n]");
  });

  it("has headers with their values", () => {
    const body = '\u0001[[1,6],["Headers",2],[3],[4,5],"via","proxy",["Set"]]';
    expect(valueText(new TextEncoder().encode(body))).toBe('Headers {\n  "via" => "proxy"\n}');
  });

  it("reads like JSON where it is a value of JSON", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        // Without the numbers that JSON writes as others: -0.
        const value = JSON.parse(JSON.stringify(JSON.parse(json)));
        // The text has names without quotes, JSON has them with quotes.
        const text = valueText(serialized(value))?.replaceAll(/^(\s*)([\w$]+): /gm, '$1"$2": ');
        expect(JSON.parse(text ?? "")).toEqual(value);
      }),
    );
  });

  it("is not laid out where its text would be far longer than its bytes", () => {
    // Written by hand: our format names a text once, and a clone copies it each time.
    const named = JSON.stringify([
      [1, 3],
      Array.from({ length: 10_000 }, () => 2),
      "x".repeat(50_000),
      ["Set"],
    ]);
    const zeros = Array.from({ length: 30_000 }, () => 0);
    const nested = Array.from({ length: 90 }).reduce<unknown>((value) => [value], zeros);
    for (const body of [new TextEncoder().encode(`\u0001${named}`), ours(nested)]) {
      expect(body.byteLength).toBeLessThan(128_000);
      expect(valueText(body)).toBeNull();
    }
    const few = JSON.stringify([[1, 3], [2, 2], "x", ["Set"]]);
    expect(valueText(new TextEncoder().encode(`\u0001${few}`))).toBe('[\n  "x",\n  "x"\n]');
  });

  it.each(["stack", "message"])("is not laid out where the %s of an error is no text", (member) => {
    const error = Object.assign(new Error("x"), { stack: "" }, { [member]: "forged" });
    const body = new TextDecoder().decode(ours(error));
    expect(body).toContain('"forged"');
    expect(valueText(new TextEncoder().encode(body))).toContain("forged");
    expect(valueText(new TextEncoder().encode(body.replace('"forged"', "42")))).toBeNull();
  });

  it("is text or null of any bytes, without an error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        for (const begin of [[0xff, 0x0f], [0x01]]) {
          const text = valueText(Uint8Array.from([...begin, ...bytes]));
          expect(text === null || typeof text === "string").toBe(true);
        }
      }),
    );
    expect(valueText(new Uint8Array())).toBeNull();
  });
});

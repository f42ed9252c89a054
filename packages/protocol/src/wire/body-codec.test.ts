import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyDecodeError, encodeBody, serializeBody } from "./body-codec.ts";
import { decodeBody } from "./native-bodies.ts";

const utf8 = (value: string) => new TextEncoder().encode(value);

describe("content type text", () => {
  it("is the UTF-8 of the string, byte order mark and empty string included", () => {
    expect([...encodeBody("\ufeffé", "text")]).toEqual([0xef, 0xbb, 0xbf, 0xc3, 0xa9]);
    expect(decodeBody(encodeBody("\ufeffé", "text"), "text")).toBe("\ufeffé");
    expect(encodeBody("", "text")).toHaveLength(0);
    expect(decodeBody(new Uint8Array(), "text")).toBe("");
  });

  it("writes U+FFFD for a lone surrogate", () => {
    expect([...encodeBody("\ud800", "text")]).toEqual([0xef, 0xbf, 0xbd]);
  });

  it.each([
    [null, "object"],
    [0, "number"],
    [5n, "bigint"],
    [Object("boxed"), "object"],
    [() => 1, "function"],
  ])("refuses %o", (value, type) => {
    expect(() => encodeBody(value, "text")).toThrow(
      new TypeError(`Content Type "text" requires a value of type string, but received: ${type}`),
    );
  });
});

describe("content type bytes", () => {
  it("is the bytes of the view, whatever its type, without those around it", () => {
    const memory = new Uint8Array([1, 2, 3, 4]);
    expect([...encodeBody(memory.subarray(1, 3), "bytes")]).toEqual([2, 3]);
    expect([...encodeBody(new DataView(memory.buffer, 2, 1), "bytes")]).toEqual([3]);
    expect([...encodeBody(new Uint16Array([0x0102]), "bytes")]).toEqual([0x02, 0x01]);
  });

  it("is empty for a view whose buffer was transferred", () => {
    const memory = new ArrayBuffer(4);
    const views = [new DataView(memory), new Uint8Array(memory)];
    structuredClone(memory, { transfer: [memory] });
    for (const view of views) expect(encodeBody(view, "bytes")).toHaveLength(0);
  });

  it("arrives as a Uint8Array whose buffer shows no other message", () => {
    const packed = new Uint8Array([9, 9, 1, 2, 9]);
    const body = decodeBody(packed.subarray(2, 4), "bytes") as Uint8Array;
    expect(body).toBeInstanceOf(Uint8Array);
    expect([...new Uint8Array(body.buffer)]).toEqual([1, 2]);
  });

  it.each([
    ["an ArrayBuffer", new ArrayBuffer(1), "object"],
    ["a string", "abc", "string"],
    ["an array", [1], "object"],
  ])("refuses %s", (_name, value, type) => {
    expect(() => encodeBody(value, "bytes")).toThrow(
      new TypeError(`Content Type "bytes" requires a value of type ArrayBufferView, but received: ${type}`),
    );
  });
});

describe("content type json", () => {
  it("is the text of JSON.stringify", () => {
    expect(serializeBody({ b: [1, undefined], a: new Date(0) }, "json")).toBe(
      '{"b":[1,null],"a":"1970-01-01T00:00:00.000Z"}',
    );
    expect(serializeBody(null, "json")).toBe("null");
  });

  it("arrives as the parsed value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(decodeBody(encodeBody(value, "json"), "json")).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("throws what JSON.stringify throws", () => {
    expect(() => encodeBody({ a: 1n }, "json")).toThrow(
      new TypeError("Do not know how to serialize a BigInt"),
    );
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(() => encodeBody(cycle, "json")).toThrow(/^Converting circular structure to JSON/);
  });

  it.each([
    ["a function", () => 1, "function"],
    ["a symbol", Symbol("s"), "symbol"],
    ["an object whose toJSON gives nothing", { toJSON: () => undefined }, "object"],
  ])("refuses %s, which JSON cannot express", (_name, value, type) => {
    expect(() => encodeBody(value, "json")).toThrow(
      new TypeError(`Content Type "json" requires a value of type JSON, but received: ${type}`),
    );
  });

  it.each(["", "undefined", '{"cut": '])("throws a BodyDecodeError for the stored text %o", (stored) => {
    expect(() => decodeBody(utf8(stored), "json")).toThrow(BodyDecodeError);
    expect(() => decodeBody(utf8(stored), "json")).toThrow(
      /^A message body of content type "json" could not be decoded: /,
    );
  });
});

import { Deserializer, Serializer } from "node:v8";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { cloneable, describe as describeValue } from "../../test/clone-arbitrary.ts";
import { V8FormatError } from "./input.ts";
import { readV8 } from "./native.ts";

/** Serializes a value with V8, as workerd's binding sends it. */
function serialized(value: unknown): Uint8Array {
  const serializer = new Serializer();
  serializer.writeHeader();
  serializer.writeValue(value);
  return new Uint8Array(serializer.releaseBuffer());
}

/** Deserializes the bytes of a value with V8. */
function deserialized(bytes: Uint8Array): unknown {
  const deserializer = new Deserializer(bytes);
  deserializer.readHeader();
  return deserializer.readValue();
}

const hex = (text: string) => Uint8Array.from(text.split(" "), (byte) => Number.parseInt(byte, 16));

// conformance: native-binding-without-type
it("V8's own serialization arrives as V8 itself reads it", () => {
  fc.assert(
    fc.property(cloneable(), (value) => {
      let bytes: Uint8Array;
      try {
        bytes = serialized(value);
      } catch {
        return fc.pre(false); // what even V8 cannot clone
      }
      expect(describeValue(readV8(bytes))).toBe(describeValue(deserialized(bytes)));
    }),
    { numRuns: 2_000 },
  );
});

it.each<[string, unknown]>([
  ["large and negative numbers", [2 ** 31, -(2 ** 31), 2 ** 32, -1, 0.1, Number.MIN_VALUE, -0]],
  ["every BigInt", [0n, -1n, 2n ** 64n, -(2n ** 200n) - 1n]],
  ["text of every width", ["é\u00ff", "Ā", "\ud83d\ude00", "\ud800", "\ufffd", "x".repeat(70_000)]],
  ["regular expressions", [/a/, /b/dgimsuy, /[\p{L}--a]/v]],
  ["views on one memory", viewsOnOneMemory()],
  ["every kind of view", everyView()],
  ["a resizable buffer and what tracks its length", resizable()],
  ["arrays with holes and names", [holes(), Object.assign([], { 5000: 1 })]],
  ["maps and sets within each other", new Map([[new Set([1]), new Map()]])],
  ["undefined", undefined],
])("V8's own serialization keeps %s", (_what, value) => {
  const bytes = serialized(value);
  expect(describeValue(readV8(bytes))).toBe(describeValue(deserialized(bytes)));
});

it("V8's own serialization reads what workerd sends for 1", () => {
  expect(readV8(hex("ff 0f 49 02"))).toBe(1);
});

it("V8's own serialization gives a resizable buffer room to grow", () => {
  const { buffer, tracking } = readV8(serialized(resizable())) as ReturnType<typeof resizable>;
  buffer.resize(16);
  expect([buffer.maxByteLength, tracking.length]).toEqual([16, 14]);
});

it.each([13, 14, 15])("V8's own serialization is read in version %i", (version) => {
  expect(readV8(Uint8Array.from([0xff, version, 0x49, 0x02]))).toBe(1);
});

it.each<[string, Uint8Array]>([
  ["nothing at all", new Uint8Array()],
  ["another format", hex("01 5b")],
  ["an older version", hex("ff 0c 49 02")],
  ["a newer version", hex("ff 10 49 02")],
  ["an object of the platform", hex("ff 0f 5c 01")],
  ["shared memory", hex("ff 0f 75 00")],
  ["a hole alone", hex("ff 0f 2d")],
  ["a reference to nothing", hex("ff 0f 5e 05")],
  ["a property without a name", hex("ff 0f 6f 54 54 7b 01")],
  ["an array longer than its bytes", hex("ff 0f 41 ff ff ff ff 0f")],
  ["a number with too many digits", hex("ff 0f 55 ff ff ff ff 8f 00")],
  ["a number of more than 32 bits", hex("ff 0f 55 ff ff ff ff 1f")],
  ["a view beyond its memory", hex("ff 0f 42 01 07 56 42 00 02 00")],
  ["a view of half an element", hex("ff 0f 42 02 07 07 56 57 01 01 00")],
  ["a view of an unknown kind", hex("ff 0f 42 01 07 56 78 00 01 00")],
  ["memory larger than it may be", hex("ff 0f 7e 02 01 07 07")],
  ["a regular expression that is none", hex("ff 0f 52 22 01 28 00")],
  ["an error with something unknown", hex("ff 0f 72 78 2e")],
  ["text of a number", hex("ff 0f 73 49 02")],
  ["text with half a character", hex("ff 0f 63 01 41")],
])("V8's own serialization is refused when it is %s", (_what, bytes) => {
  expect(() => readV8(bytes)).toThrow(V8FormatError);
});

it("V8's own serialization is refused wherever it is cut off", () => {
  const error = new RangeError("message", { cause: [1n] });
  const bytes = serialized({
    error,
    list: [1, "é", "Ā"],
    map: new Map([[1, new Set([/a/g])]]),
    view: new Int16Array(3),
  });
  expect(describeValue(readV8(bytes))).not.toBe("");
  for (let length = 0; length < bytes.length; length++) {
    expect(() => readV8(bytes.subarray(0, length)), `${length} bytes`).toThrow(V8FormatError);
  }
});

function viewsOnOneMemory() {
  const whole = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
  return {
    part: whole.subarray(2, 4),
    whole,
    words: new Uint16Array(whole.buffer),
    data: new DataView(whole.buffer, 1),
  };
}

function holes() {
  const list: unknown[] = [0, 1, 2, 3];
  delete list[0];
  delete list[2];
  return Object.assign(list, { named: true });
}

function everyView() {
  const buffer = new Uint8Array(64).map((_, i) => i).buffer;
  return [
    ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
    ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
  ].map((View) => new View(buffer, 8, 2));
}

function resizable() {
  const buffer = new ArrayBuffer(8, { maxByteLength: 16 });
  new Uint8Array(buffer).fill(7);
  return { buffer, tracking: new Uint8Array(buffer, 2), fixed: new Uint8Array(buffer, 2, 3) };
}

import { serialize } from "node:v8";
import { expect, it } from "vitest";
import { encodeBody } from "./body-codec.ts";
import { decodeBodies } from "./decode-bodies.ts";
import { mayHoldNativeBody, withoutNativeBodies } from "./native-bodies.ts";
import { type MessageToPack, PackedIndex, packMessages } from "./packed.ts";

const id = (i: number) => `${i}`.padStart(32, "a");
const value = { when: new Date(0), seen: new Map([[1, new Set(["x"])]]), big: 7n };

it("a packed batch without native bodies has what workerd's own binding has sent in our format, and everything else of each message", () => {
  const messages: MessageToPack[] = [
    { id: id(1), contentType: "json", body: encodeBody({ a: 1 }, "json") },
    {
      id: id(2),
      contentType: "v8",
      body: serialize(value),
      delaySeconds: 7,
      timestampMs: 99,
      earlierReceives: 3,
      extension: { groupId: "g", deadLetterOf: "orders" },
    },
    { id: id(3), contentType: "v8", body: encodeBody(value, "v8") },
    // Bytes that only look like it.
    { id: id(4), contentType: "bytes", body: serialize(value) },
  ];
  const packed = packMessages(messages);
  const index = new PackedIndex(withoutNativeBodies(packed));
  expect(decodeBodies(index)).toEqual([{ a: 1 }, value, value, new Uint8Array(serialize(value))]);
  expect(index.ids()).toEqual([1, 2, 3, 4].map(id));
  expect(index.message(1)).toMatchObject({ contentType: "v8", timestampMs: 99, delaySeconds: 7 });
  expect(index.extension(1)).toEqual({ groupId: "g", deadLetterOf: "orders" });
  expect(index.earlierReceives(1)).toBe(3);
  for (const i of [0, 2, 3]) {
    expect(index.records(i, i + 1)).toEqual(new PackedIndex(packed).records(i, i + 1));
  }
});

it("a packed batch without native bodies is the same bytes where there are none, and where one cannot be read", () => {
  const plain = packMessages([{ id: id(1), contentType: "v8", body: encodeBody(value, "v8") }]);
  expect(withoutNativeBodies(plain)).toBe(plain);
  const cut = packMessages([{ id: id(1), contentType: "v8", body: serialize(value).subarray(0, 9) }]);
  const kept = withoutNativeBodies(cut);
  expect(kept).toEqual(cut);
  expect(() => decodeBodies(new PackedIndex(kept))).toThrow(/first byte is not that of a known format/);
});

it("packed bytes may hold a native body where one is among them, or where they are no records", () => {
  const own: MessageToPack = { id: id(1), contentType: "v8", body: encodeBody(value, "v8") };
  const other: MessageToPack = { id: id(2), contentType: "bytes", body: serialize(value) };
  const native: MessageToPack = { id: id(3), contentType: "v8", body: serialize(value) };
  const extended = { ...native, extension: { groupId: "g" } };
  expect(mayHoldNativeBody(packMessages([]))).toBe(false);
  expect(mayHoldNativeBody(packMessages([own, other]))).toBe(false);
  expect(mayHoldNativeBody(packMessages([own, other, native]))).toBe(true);
  expect(mayHoldNativeBody(packMessages([own, extended, other]))).toBe(true);
  expect(mayHoldNativeBody(packMessages([{ ...own, body: new Uint8Array() }]))).toBe(false);
  expect(mayHoldNativeBody(packMessages([own, other]).subarray(1))).toBe(true);
});

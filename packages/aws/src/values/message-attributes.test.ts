import { expect, it } from "vitest";
import { md5Hex } from "./digest.ts";
import { type AttributeValue, attributesMd5 } from "./message-attributes.ts";

const text = (StringValue: string, DataType = "String"): AttributeValue => ({ DataType, StringValue });
const TRACE = "traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01";

/** Digests that AWS answered with (spec sqs 5.4). */
const RECORDED: readonly [Record<string, AttributeValue>, string][] = [
  [{ MyAttribute: text("foobar") }, "adb59cd4678ea5a855436b949cd07ab6"],
  [{ k: text("x") }, "a45daa70926828a2f0a1db3418e6feb4"],
  [{ Foo: text("Bar") }, "ae7155c6026991b6d54b11589678bf9c"],
  [
    { "Help.Me": text("Me"), Hello: text("There"), General: text("Kenobi") },
    "4c360f3fdafd970e05fae2f149d997f5",
  ],
  [
    { attr1: { DataType: "Binary", BinaryValue: new TextEncoder().encode(TRACE) } },
    "8cbe4db156db8a94db8b801b7addb984",
  ],
  [{ timestamp: text("1493147359900", "Number") }, "235c5c510d26fb653d073faed50ae77c"],
  [
    { AWSTraceHeader: text("Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1") },
    "5ae4d5d7636402d80f4eb6d213245a88",
  ],
];

it.each(RECORDED)("the digest of the attributes %j is the one that AWS recorded", (attributes, digest) => {
  expect(attributesMd5(attributes)).toBe(digest);
});

it("a label behind the type changes the digest, the order in which attributes were given does not", () => {
  expect(attributesMd5({ k: text("1", "Number.int") })).not.toBe(attributesMd5({ k: text("1", "Number") }));
  expect(attributesMd5({ a: text("1"), b: text("2") })).toBe(attributesMd5({ b: text("2"), a: text("1") }));
});

it("names are ordered by the bytes of UTF-8, not by UTF-16", () => {
  // U+FFFD is one unit and three bytes, U+1F600 two units that are smaller and four bytes that are larger.
  const [first, second] = ["\ufffd", "\u{1f600}"];
  expect(second < first).toBe(true);
  expect(attributesMd5({ [first]: text("1"), [second]: text("2") })).toBe(
    attributesMd5({ [second]: text("2"), [first]: text("1") }),
  );
});

it("the digest of a body is that of its UTF-8 bytes", () => {
  expect(md5Hex("message")).toBe("78e731027d8fd50ed642340b7c9a63b3");
  expect(md5Hex("é")).toBe(md5Hex(Uint8Array.of(0xc3, 0xa9)));
});

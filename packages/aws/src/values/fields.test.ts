import { expect, it } from "vitest";
import { FieldWriter } from "./fields.ts";

it("each field stands behind its length, in the order of bytes that was asked for", () => {
  const fields = new FieldWriter("big endian");
  fields.text("ab");
  fields.byte(7);
  fields.bytes(Uint8Array.of(1));
  expect([...fields.written]).toEqual([0, 0, 0, 2, 97, 98, 7, 0, 0, 0, 1, 1]);
  const others = new FieldWriter("little endian");
  others.text("a");
  expect([...others.written]).toEqual([1, 0, 0, 0, 97]);
});

it.each([
  "",
  "é",
  "x".repeat(63),
  "x".repeat(64),
  "x".repeat(65),
  `${"x".repeat(30)}é\u{1f600}`,
  "é".repeat(70_000),
])("a text of any length and alphabet is UTF-8: %#", (text) => {
  const fields = new FieldWriter("little endian");
  fields.byte(9);
  fields.text(text);
  const bytes = new TextEncoder().encode(text);
  const { written } = fields;
  expect(new DataView(written.buffer, written.byteOffset).getUint32(1, true)).toBe(bytes.byteLength);
  expect(written.subarray(5)).toEqual(bytes);
});

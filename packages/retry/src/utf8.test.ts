import fc from "fast-check";
import { expect, it } from "vitest";
import { utf8, utf8Length } from "./utf8.ts";

it.each([0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff])("encodes character %i as UTF-8", (point) => {
  const character = String.fromCodePoint(point);
  expect([...utf8(character)]).toEqual([...new TextEncoder().encode(character)]);
});

it("encodes every text as the platform does, lone surrogates included", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "a\udfffb", "é", "€", "😀"));
  fc.assert(
    fc.property(text, (value) => {
      const expected = [...new TextEncoder().encode(value)];
      expect([...utf8(value)]).toEqual(expected);
      expect(utf8Length(value)).toBe(expected.length);
    }),
  );
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { base64Of, bytesOf, bytesOfHex, hexDump, hexOf } from "./hex.ts";

it("bytes stay the same as base64 and as hexadecimal digits", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect([...bytesOf(base64Of(bytes))]).toEqual([...bytes]);
      expect([...(bytesOfHex(hexOf(bytes)) ?? [])]).toEqual([...bytes]);
    }),
  );
});

it.each(["0", "0g", "hello"])("%s is no bytes", (text) => expect(bytesOfHex(text)).toBeNull());

it("bytes are shown by line, with what is printable", () => {
  expect(hexDump(new TextEncoder().encode("hello, wide world\n"))).toBe(
    [
      "000000  68 65 6c 6c 6f 2c 20 77 69 64 65 20 77 6f 72 6c  hello, wide worl",
      "000010  64 0a                                            d.",
    ].join("\n"),
  );
});

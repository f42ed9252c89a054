import { expect, it } from "vitest";
import { checksumOf } from "./checksum.ts";

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const ofText = (text: string) => checksumOf(viewOf(new TextEncoder().encode(text)), 0, text.length);

it("the checksum is MurmurHash3 of 32 bits with the seed 0", () => {
  expect(["", "hello", "hello, world", "The quick brown fox jumps over the lazy dog"].map(ofText)).toEqual([
    0, 0x248bfa47, 0x149bbb7f, 0x2e4ff723,
  ]);
});

it("the checksum is of the given bytes alone", () => {
  const bytes = new TextEncoder().encode("xxhelloxx");
  expect(checksumOf(viewOf(bytes), 2, 7)).toBe(0x248bfa47);
  expect(checksumOf(viewOf(bytes.subarray(1)), 1, 6)).toBe(0x248bfa47);
});

it("the checksum tells every single flipped bit", () => {
  const bytes = Uint8Array.from({ length: 67 }, (_, i) => 37 * i);
  const whole = checksumOf(viewOf(bytes), 0, bytes.length);
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const flipped = bytes.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(checksumOf(viewOf(flipped), 0, flipped.length)).not.toBe(whole);
  }
});

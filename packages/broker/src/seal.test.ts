import { isReadable, PackedIndex } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { packTexts } from "../test/messages.ts";
import { DamagedSealError, sealOf, unsealed } from "./seal.ts";

const BODIES = ["first", "", "a third body that is longer", "last"];
const packed = packTexts(BODIES);
const seal = sealOf(packed);
const { offsets } = new PackedIndex(packed);

function flipped(bytes: Uint8Array, at: number, bit = 0): Uint8Array {
  const copy = bytes.slice();
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

/** Positions of the records that cannot be read. */
function damagedOf(stored: Uint8Array): number[] {
  const index = new PackedIndex(unsealed(stored, seal));
  expect([...index.offsets]).toEqual([...offsets]);
  return BODIES.map((_, i) => i).filter((i) => !isReadable(index, i));
}

describe("a seal", () => {
  it("lets through what is as it was stored", () => {
    expect(unsealed(packed.slice(), seal)).toEqual(packed);
    expect(unsealed(new Uint8Array(), sealOf(new Uint8Array()))).toEqual(new Uint8Array());
  });

  it("tells every flipped bit, in the one record that it is in", () => {
    for (let at = 0; at < packed.length; at++) {
      const record = offsets.findIndex((_, i) => at < (offsets[i + 1] ?? 0));
      for (let bit = 0; bit < 8; bit++) expect(damagedOf(flipped(packed, at, bit))).toEqual([record]);
    }
  });

  it("tells what is cut off, and lets through what is before it", () => {
    expect(damagedOf(packed.slice(0, -1))).toEqual([3]);
    expect(damagedOf(packed.slice(0, (offsets[2] ?? 0) + 3))).toEqual([2, 3]);
    expect(damagedOf(new Uint8Array())).toEqual([0, 1, 2, 3]);
  });

  it("drops what was added", () => {
    expect(unsealed(Uint8Array.from([...packed, 1, 2, 3]), seal)).toEqual(packed);
  });

  it("tells its own damage, in every bit", () => {
    for (let at = 0; at < seal.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        expect(() => unsealed(packed, flipped(seal, at, bit))).toThrow(DamagedSealError);
      }
    }
    for (let length = 0; length < seal.length; length++) {
      expect(() => unsealed(packed, seal.slice(0, length))).toThrow(DamagedSealError);
    }
  });

  it("of bytes that were appended to is that of the whole", () => {
    for (const to of offsets) expect(sealOf(packed, sealOf(packed.slice(0, to)))).toEqual(seal);
  });

  it("of bytes that were appended to still tells damage of what was there before", () => {
    const before = packed.slice(0, offsets[2]);
    const damaged = flipped(packed, 1);
    expect(damagedOf(damaged)).toEqual([0]);
    expect(sealOf(damaged, sealOf(before))).toEqual(seal);
  });

  it("seals bytes that are no records as a whole", () => {
    const bytes = Uint8Array.from([1, 2, 3]);
    expect(unsealed(bytes.slice(), sealOf(bytes))).toEqual(bytes);
    expect(() => unsealed(flipped(bytes, 1), sealOf(bytes))).toThrow(DamagedSealError);
  });
});

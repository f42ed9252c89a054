import { isReadable, PackedIndex } from "@sluice/protocol";
import { expect, it } from "vitest";
import { packTexts } from "../../test/messages.ts";
import { checksumsOf, DamagedChecksumsError, verified } from "./record-checksums.ts";

const BODIES = ["first", "", "a third body that is longer", "last"];
const packed = packTexts(BODIES);
const checksums = checksumsOf(packed);
const { offsets } = new PackedIndex(packed);

function flipped(bytes: Uint8Array, at: number, bit = 0): Uint8Array {
  const copy = bytes.slice();
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

/** Positions of the records that cannot be read. */
function damagedOf(stored: Uint8Array): number[] {
  const index = new PackedIndex(verified(stored, checksums));
  expect([...index.offsets]).toEqual([...offsets]);
  return BODIES.map((_, i) => i).filter((i) => !isReadable(index, i));
}

it("the checksums of packed bytes lets through what is as it was stored", () => {
  expect(verified(packed.slice(), checksums)).toEqual(packed);
  expect(verified(new Uint8Array(), checksumsOf(new Uint8Array()))).toEqual(new Uint8Array());
});

it("the checksums of packed bytes tells every flipped bit, in the one record that it is in", () => {
  for (let at = 0; at < packed.length; at++) {
    const record = offsets.findIndex((_, i) => at < (offsets[i + 1] ?? 0));
    for (let bit = 0; bit < 8; bit++) expect(damagedOf(flipped(packed, at, bit))).toEqual([record]);
  }
});

it("the checksums of packed bytes tells what is cut off, and lets through what is before it", () => {
  expect(damagedOf(packed.slice(0, -1))).toEqual([3]);
  expect(damagedOf(packed.slice(0, (offsets[2] ?? 0) + 3))).toEqual([2, 3]);
  expect(damagedOf(new Uint8Array())).toEqual([0, 1, 2, 3]);
});

it("the checksums of packed bytes drops what was added", () => {
  expect(verified(Uint8Array.from([...packed, 1, 2, 3]), checksums)).toEqual(packed);
});

it("the checksums of packed bytes tells its own damage, in every bit", () => {
  for (let at = 0; at < checksums.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      expect(() => verified(packed, flipped(checksums, at, bit))).toThrow(DamagedChecksumsError);
    }
  }
  for (let length = 0; length < checksums.length; length++) {
    expect(() => verified(packed, checksums.slice(0, length))).toThrow(DamagedChecksumsError);
  }
});

it("the checksums of bytes that were appended to are those of the whole", () => {
  for (const to of offsets) expect(checksumsOf(packed, checksumsOf(packed.slice(0, to)))).toEqual(checksums);
});

it("the checksums of bytes that were appended to still detect damage of the earlier bytes", () => {
  const before = packed.slice(0, offsets[2]);
  const damaged = flipped(packed, 1);
  expect(damagedOf(damaged)).toEqual([0]);
  expect(checksumsOf(damaged, checksumsOf(before))).toEqual(checksums);
});

it("the checksums of packed bytes cover bytes that are no records as a whole", () => {
  const bytes = Uint8Array.from([1, 2, 3]);
  expect(verified(bytes.slice(), checksumsOf(bytes))).toEqual(bytes);
  expect(() => verified(flipped(bytes, 1), checksumsOf(bytes))).toThrow(DamagedChecksumsError);
});

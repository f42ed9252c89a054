import { isReadable, type PackedIndex } from "@sluice/protocol";

/** Records [from, to). */
export interface RecordRange {
  readonly from: number;
  readonly to: number;
}

/** The stretches of [from, to) that can be read: all of it in one, unless the store has found damage. */
export function readableRanges(index: PackedIndex, from: number, to: number): RecordRange[] {
  const ranges: RecordRange[] = [];
  for (let at = from; at < to; at++) {
    if (!isReadable(index, at)) continue;
    const first = at;
    while (at + 1 < to && isReadable(index, at + 1)) at += 1;
    ranges.push({ from: first, to: at + 1 });
  }
  return ranges;
}

import { isReadable, type PackedIndex } from "@sluice/protocol";

/** Records [from, to). */
export interface RecordRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The stretches of [from, to) that can be read: all of it in one, unless the store has found damage.
 *
 * @param canBeRead of one record. Default: a consumer could read it.
 */
export function readableRanges(
  index: PackedIndex,
  from: number,
  to: number,
  canBeRead: (index: PackedIndex, i: number) => boolean = isReadable,
): RecordRange[] {
  const ranges: RecordRange[] = [];
  for (let at = from; at < to; at++) {
    if (!canBeRead(index, at)) continue;
    const first = at;
    while (at + 1 < to && canBeRead(index, at + 1)) at += 1;
    ranges.push({ from: first, to: at + 1 });
  }
  return ranges;
}

/** Whether a queue can take record i in: it could be read, and so can what other dialects say about it. */
export function isStorable(index: PackedIndex, i: number): boolean {
  return isReadable(index, i) && index.hasReadableExtension(i);
}

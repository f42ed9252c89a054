import { isReadable, type PackedIndex } from "@sluice/protocol";

/** Range of records [from, to). */
export interface RecordRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Lists the readable ranges of [from, to): one for all of it, unless the store has found damage.
 *
 * @param canBeRead whether a record counts as readable. Default: a consumer could read it.
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

/** Whether a queue can store record `i`: its body and its extension are readable. */
export function isStorable(index: PackedIndex, i: number): boolean {
  return isReadable(index, i) && index.hasReadableExtension(i);
}

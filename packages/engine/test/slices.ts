import type { Lease, Receipt } from "../src/index.ts";
import type { Slice } from "../src/segments/segment.ts";

/** The receipts of a batch, in its order. */
export function positionsOf({ slices, leaseId }: Lease): Receipt[] {
  const receipts: Receipt[] = [];
  for (const { segmentId, from, to } of slices) {
    for (let index = from; index < to; index++) receipts.push({ segmentId, index, leaseId });
  }
  return receipts;
}

export function countOf(slices: readonly Slice[]): number {
  return slices.reduce((sum, slice) => sum + slice.to - slice.from, 0);
}

/** Returns the ranges that name messages [from, to) of a batch in a settlement. */
export function rangesWithin(batch: Lease, from: number, to: number) {
  const ranges = [];
  let position = 0;
  for (const slice of batch.slices) {
    const first = slice.from + Math.max(0, from - position);
    const end = Math.min(slice.to, slice.from + to - position);
    if (first < end) {
      ranges.push({ leaseId: batch.leaseId, segmentId: slice.segmentId, from: first, to: end });
    }
    position += slice.to - slice.from;
  }
  return ranges;
}

import { acknowledge, type Lease, type Slice } from "@sluice/engine";
import { isReadable, joinPacked } from "@sluice/protocol";
import { type RecordRange, readableRanges } from "../store/readable.ts";
import type { QueueContext } from "./context.ts";

type RecordsContext = Pick<QueueContext, "queue" | "damage" | "payloadOf">;

/** Records of a lease that can be read. */
export interface LeaseRecords {
  /** Readable part of the lease. */
  readonly batch: Lease;
  /** Its joined records. Never a view, whose whole buffer would be serialised with it for a call. */
  readonly packed: Uint8Array;
  /** Id of the first message. */
  readonly firstId: string;
}

/**
 * Within a turn: reads the records of a lease. Unreadable messages are reported as lost and leave the queue.
 *
 * @returns `null` if none is readable.
 */
export function readLease(context: RecordsContext, batch: Lease): LeaseRecords | null {
  const slices: Slice[] = [];
  const parts: Uint8Array[] = [];
  let { count } = batch;
  let firstId: string | undefined;
  for (const slice of batch.slices) {
    try {
      const payload = context.payloadOf(slice.segmentId);
      const ranges = readableRanges(payload, slice.from, slice.to);
      const [first] = ranges;
      if (first !== undefined) firstId ??= payload.id(first.from);
      parts.push(...ranges.map(({ from, to }) => payload.records(from, to)));
      slices.push(...ranges.map((range) => ({ ...slice, ...range })));
      count -= giveUp(context, batch, slice, ranges, "their stored bytes are damaged");
    } catch (error) {
      count -= giveUp(context, batch, slice, [], error);
    }
  }
  if (firstId === undefined) return null;
  return { batch: { ...batch, slices, count }, packed: joinOwned(parts), firstId };
}

/** Joins records into bytes of their own, not a view of a larger buffer. */
export function joinOwned(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  const isView = parts.length === 1 && only !== undefined && only.byteLength !== only.buffer.byteLength;
  return isView ? only.slice() : joinPacked(parts);
}

/** Removes the messages of a slice outside its readable ranges from the queue. @returns how many. */
function giveUp(
  context: RecordsContext,
  batch: Lease,
  slice: Slice,
  readable: readonly RecordRange[],
  reason: unknown,
): number {
  let lost = 0;
  let from = slice.from;
  for (const next of [...readable, { from: slice.to, to: slice.to }]) {
    const gap = { segmentId: slice.segmentId, from, to: next.from, leaseId: batch.leaseId };
    if (gap.from < gap.to) lost += acknowledge(context.queue, gap);
    from = next.to;
  }
  if (lost > 0) context.damage.messagesLost(slice, lost, reason);
  return lost;
}

/** Checks whether a message is readable, and reports it as lost if not. The caller then removes it from the queue. */
export function checkReadable(
  { payloadOf, damage }: Pick<RecordsContext, "payloadOf" | "damage">,
  segmentId: number,
  index: number,
): boolean {
  let reason: unknown = "its stored bytes are damaged";
  try {
    if (isReadable(payloadOf(segmentId), index)) return true;
  } catch (error) {
    reason = error;
  }
  damage.messagesLost({ segmentId, from: index, to: index + 1 }, 1, reason);
  return false;
}

import { countAttempts, type Placement, type Queue, send } from "@sluice/engine";
import { joinPacked, PackedIndex, uncountedBytes } from "@sluice/protocol";
import type { PayloadCache } from "../store/payload-cache.ts";

/** Most payload bytes of one segment, well below the 2 MB of a stored value. */
export const SEGMENT_BYTES_MAX = 512_000;

/** Packed batch that was accepted and is not stored yet. */
export interface AcceptedBatch {
  readonly index: PackedIndex;
  /** Delay of the messages that name none, in seconds. */
  readonly delaySeconds: number;
  /** Origin of that delay. Default: the queue. */
  readonly delayReason?: "send" | "queue";
  /** Producer of the messages, if known. */
  readonly by?: string | null;
  /** Queue that transferred it. Default: a producer sent it. */
  readonly from?: string;
  /** Deliveries of each message before it was exported; its retention begins anew. Default: none. */
  readonly attempts?: readonly number[];
}

/** Callback with batches that were stored together, and their place. */
type Stored = (group: readonly AcceptedBatch[], placement: Placement) => void;

/**
 * Stores the batches of one commit in as few segments as possible. Packed batches are joined byte by byte; only
 * messages with different delays are put into another order.
 */
export function placeBatches(
  queue: Queue,
  batches: readonly AcceptedBatch[],
  payloadOf: (segmentId: number) => PackedIndex,
  cache: PayloadCache,
  nowMs: number,
  stored: Stored = () => {},
): void {
  let group: AcceptedBatch[] = [];
  let bytes = 0;
  const storable = batches.every(isStorable) ? batches : batches.flatMap(inStorableParts);
  for (const next of storable) {
    if (group.length > 0 && bytes + next.index.packed.byteLength > SEGMENT_BYTES_MAX) {
      storeGroup(queue, group, payloadOf, cache, nowMs, stored);
      group = [];
      bytes = 0;
    }
    group.push(next);
    bytes += next.index.packed.byteLength;
  }
  if (group.length > 0) storeGroup(queue, group, payloadOf, cache, nowMs, stored);
}

function isStorable({ index }: AcceptedBatch): boolean {
  return index.packed.byteLength <= SEGMENT_BYTES_MAX;
}

/** Cuts a batch that is too large for one segment, between records. A single record always fits. */
function inStorableParts(batch: AcceptedBatch): AcceptedBatch[] {
  if (isStorable(batch)) return [batch];
  const { index, attempts, ...rest } = batch;
  const parts: AcceptedBatch[] = [];
  let from = 0;
  for (let to = 1; to <= index.count; to++) {
    const isLast = to === index.count;
    if (!isLast && index.records(from, to + 1).byteLength <= SEGMENT_BYTES_MAX) continue;
    const own = attempts === undefined ? {} : { attempts: attempts.slice(from, to) };
    parts.push({ ...rest, ...own, index: new PackedIndex(index.records(from, to).slice()) });
    from = to;
  }
  return parts;
}

function storeGroup(
  queue: Queue,
  group: readonly AcceptedBatch[],
  payloadOf: (segmentId: number) => PackedIndex,
  cache: PayloadCache,
  nowMs: number,
  stored: Stored,
): void {
  const sizes: number[] = [];
  // Sparse, and ends with the last message that has a group.
  const groups: (string | null)[] = [];
  const dueMs: number[] = [];
  // Sparse, and ends with the last dead letter.
  const acceptedMs: number[] = [];
  const earlier: { readonly position: number; readonly attempts: number }[] = [];
  for (const { index, delaySeconds, attempts } of group) {
    for (let i = 0; i < index.count; i++) {
      const extension = index.extension(i);
      const { groupId, deadLetterSource } = extension;
      sizes.push(index.contentBytes(i) - uncountedBytes(extension));
      if (groupId !== undefined) groups[sizes.length - 1] = groupId;
      // On a FIFO queue a dead letter begins anew (spec sqs 6.2).
      const isNew = attempts === undefined;
      if (isNew && deadLetterSource !== undefined && !queue.isFifo && index.timestampMs(i) > 0) {
        acceptedMs[sizes.length - 1] = Math.min(nowMs, index.timestampMs(i));
      }
      const had = attempts?.[i] ?? 0;
      if (had > 0) earlier.push({ position: sizes.length - 1, attempts: had });
      dueMs.push(nowMs + 1000 * (index.delaySeconds(i) ?? delaySeconds));
      // Messages of another queue keep the time of their send.
      if (!(index.timestampMs(i) > 0)) index.stamp(i, nowMs);
    }
  }
  const messages = {
    sizes,
    dueMs,
    ...(groups.length > 0 ? { groups } : {}),
    ...(acceptedMs.length > 0 ? { acceptedMs } : {}),
  };
  const placement = send(queue, messages, nowMs);
  const { segmentId, from, order } = placement;
  for (const { position, attempts } of earlier) {
    const index = from + (order === null ? position : order.indexOf(position));
    countAttempts(queue, { segmentId, index }, attempts, nowMs);
  }
  const parts =
    placement.order === null
      ? group.map(({ index }) => index.packed)
      : recordsInOrder(group, placement.order);
  if (placement.from > 0) parts.unshift(payloadOf(placement.segmentId).packed);
  const [first] = group;
  const untouched = parts.length === 1 && first !== undefined && parts[0] === first.index.packed;
  cache.set(placement.segmentId, untouched ? first.index : new PackedIndex(joinPacked(parts)));
  stored(group, placement);
}

function recordsInOrder(group: readonly AcceptedBatch[], order: readonly number[]): Uint8Array[] {
  const records = group.flatMap(({ index }) =>
    Array.from({ length: index.count }, (_, i) => index.records(i, i + 1)),
  );
  return order.flatMap((position) => records.slice(position, position + 1));
}

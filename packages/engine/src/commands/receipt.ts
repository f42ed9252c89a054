import { isolate } from "../queue/isolate.ts";
import type { Queue } from "../queue/queue.ts";
import { removeEntry, toLeased } from "../queue/transitions.ts";
import { type Entry, type Segment, type Slice, sliceOf } from "../segments/segment.ts";
import { returnReceived } from "./settle.ts";

/** Longest that a message can be kept invisible by one receipt, in ms: 12 hours from its receive (spec sqs 3.1). */
export const VISIBILITY_TOTAL_MS_MAX = 43_200_000;

/** One receive of one message, which a receipt handle stands for. */
export interface Receipt {
  readonly segmentId: number;
  readonly index: number;
  readonly leaseId: number;
}

/**
 * Deletes the message of a receipt. On a standard queue any receipt of the message counts, also an expired one or one
 * of an earlier receive. On a FIFO queue only the latest one counts, within its visibility timeout (spec sqs 3.4).
 *
 * @param noteDeleted called with the message, for a caller that keeps its bytes.
 * @returns `gone` for a message that was not there any more, `expired` for a receipt that does not count any more.
 */
export function deleteReceived(
  queue: Queue,
  receipt: Receipt,
  nowMs: number,
  noteDeleted: (deleted: Slice) => void = () => {},
): "deleted" | "gone" | "expired" {
  const found = findSegment(queue, receipt, nowMs);
  if (found === "gone" || found === "expired") return found;
  const entry = isolate(queue, found, receipt.index);
  noteDeleted(sliceOf(entry));
  removeEntry(queue, entry);
  return "deleted";
}

/** A new end of a message's invisibility. */
export interface NewVisibility {
  /** In ms; `nowMs` or before makes the message visible at once. */
  readonly visibleAtMs: number;
  /** When the receipt was given, in ms. */
  readonly receivedMs: number;
}

/**
 * Replaces the rest of a message's visibility timeout (spec sqs 3.3). The same receipts count as for `deleteReceived`;
 * on a standard queue a message that is visible again becomes invisible.
 *
 * @returns `overTotal` if the message would be invisible for more than `VISIBILITY_TOTAL_MS_MAX` since its receive;
 *   then nothing has changed.
 */
export function changeVisibility(
  queue: Queue,
  receipt: Receipt,
  { visibleAtMs, receivedMs }: NewVisibility,
  nowMs: number,
): "changed" | "gone" | "expired" | "overTotal" {
  const found = findSegment(queue, receipt, nowMs);
  if (found === "gone" || found === "expired") return found;
  if (visibleAtMs > nowMs && visibleAtMs > receivedMs + VISIBILITY_TOTAL_MS_MAX) return "overTotal";
  const entry = isolate(queue, found, receipt.index);
  if (visibleAtMs <= nowMs) {
    returnReceived(queue, entry, nowMs, nowMs);
  } else {
    // After corruption a received message can look untouched: it was delivered at least once.
    entry.attempts = Math.max(1, entry.attempts);
    // Takes the message away from any other client that holds it.
    entry.leaseId = receipt.leaseId;
    entry.leaseKind = "receive";
    toLeased(queue, entry, visibleAtMs);
  }
  return "changed";
}

/** Facts about a message that was received. */
export interface ReceivedFacts {
  /** Receives in this queue. */
  readonly receives: number;
  readonly firstReceivedMs: number;
  /** Grows over all messages of the queue in the order of their sends. */
  readonly seq: number;
  /** End of its visibility timeout in ms; of a message that is visible again, its due time. */
  readonly visibleAtMs: number;
}

/** Returns the facts about the message of a receipt; `null` when the message is gone, or has another lease by now. */
export function factsOf(queue: Queue, receipt: Receipt): ReceivedFacts | null {
  const entry = queue.segments.get(receipt.segmentId)?.entryOf(receipt.index);
  if (entry?.leaseId !== receipt.leaseId) return null;
  const { segment, attempts, firstReceivedMs, atMs } = entry;
  return { receives: attempts, firstReceivedMs, seq: segment.seqOf(receipt.index), visibleAtMs: atMs };
}

/** Finds the segment of a receipt's message, if the receipt still counts. */
function findSegment(
  queue: Queue,
  { segmentId, index, leaseId }: Receipt,
  nowMs: number,
): Segment | "gone" | "expired" {
  const segment = queue.segments.get(segmentId);
  if (!segment?.has(index)) return "gone";
  return queue.isFifo && !hasLease(segment.entryOf(index), leaseId, nowMs) ? "expired" : segment;
}

function hasLease(entry: Entry | null, leaseId: number, nowMs: number): boolean {
  return entry !== null && entry.state === "leased" && entry.leaseId === leaseId && entry.atMs > nowMs;
}

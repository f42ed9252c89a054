import { oldestExpiringMs } from "../commands/expire.ts";
import { hasPushSlot } from "../push/dispatch.ts";
import { firstReadyMs } from "../queue/advance.ts";
import type { Queue } from "../queue/queue.ts";
import { type HeapNode, TimeHeap } from "../segments/heap.ts";
import { Entry, type Segment } from "../segments/segment.ts";

/**
 * Next moment at which the queue acts by itself, in ms: the earliest lease expiry, retention end, and, when batches are
 * pushed, the due time of the next batch. `null` when there is none.
 *
 * One alarm serves all of them. It is set for every batch, not for every delayed message.
 *
 * @param pushing whether a consumer takes batches now.
 */
export function nextWakeAt(queue: Queue, pushing: boolean): number | null {
  let wakeMs = nextExpiryAt(queue) ?? Infinity;
  const lease = queue.leased.peek();
  if (lease !== undefined) wakeMs = Math.min(wakeMs, lease.atMs);
  if (pushing) wakeMs = Math.min(wakeMs, nextBatchAt(queue) ?? Infinity);
  return Number.isFinite(wakeMs) ? wakeMs : null;
}

/** When the retention of a message ends first, in ms; `null` without one that can expire. */
export function nextExpiryAt(queue: Queue): number | null {
  const atMs = oldestExpiringMs(queue) + queue.rules.retentionMs;
  return Number.isFinite(atMs) ? atMs : null;
}

/**
 * When the next batch is due if nothing is sent until then, in ms: it is full, or its first message has waited for the
 * batch timeout. `null` when no message can come due, or no further delivery may run.
 */
export function nextBatchAt(queue: Queue): number | null {
  return hasPushSlot(queue) ? batchDueAt(queue) : null;
}

/** Returns the time of `nextBatchAt` even where no further delivery may run. */
export function batchDueAt(queue: Queue): number | null {
  const dueMs = batchDueMs(queue);
  return Number.isFinite(dueMs) ? dueMs : null;
}

/**
 * Whether messages wait for a push delivery to end, or will before `untilMs`: a batch is due then that could take its
 * slot, or messages of a FIFO queue may stand behind its own. Messages that are sent meanwhile are left out.
 */
export function isSlotAwaited(queue: Queue, untilMs: number): boolean {
  if (queue.isFifo && queue.readyCount + queue.delayedCount > 0) return true;
  return batchDueMs(queue) <= untilMs;
}

function batchDueMs(queue: Queue): number {
  const { maxBatchSize, batchTimeoutMs } = queue.rules;
  const firstDelayed = queue.delayed.peek();
  const firstMs = Math.min(firstReadyMs(queue) ?? Infinity, firstDelayed?.atMs ?? Infinity);
  const missing = maxBatchSize - queue.readyCount;
  if (missing <= 0) return firstMs;
  return Math.min(firstMs + batchTimeoutMs, nthDueMs(queue, missing));
}

/** Due time of the n-th delayed message; Infinity if there are fewer. A segment counts run by run. */
function nthDueMs(queue: Queue, n: number): number {
  if (queue.delayedCount < n) return Infinity;
  let missing = n;
  let dueMs = Infinity;
  // Runs of a segment behind the one that its node stands for: due later, so they queue up here in the same order.
  const following = new TimeHeap<HeapNode & { segment: Segment; from: number }>();
  const countRun = (segment: Segment, from: number, atMs: number) => {
    const to = segment.runEnd(from);
    missing -= to - from;
    dueMs = atMs;
    if (to < segment.count) following.push({ segment, from: to, atMs: segment.dueOf(to), seq: 0, at: -1 });
  };
  const countFollowingUntil = (untilMs: number) => {
    for (
      let run = following.peek();
      missing > 0 && run !== undefined && run.atMs <= untilMs;
      run = following.peek()
    ) {
      following.remove(run);
      countRun(run.segment, run.from, run.atMs);
    }
  };
  for (const node of queue.delayed.inOrder()) {
    countFollowingUntil(node.atMs);
    if (missing <= 0) break;
    if (node instanceof Entry) {
      missing -= node.count;
      dueMs = node.atMs;
    } else {
      countRun(node.segment, node.segment.readyEnd, node.atMs);
    }
  }
  countFollowingUntil(Infinity);
  return dueMs;
}

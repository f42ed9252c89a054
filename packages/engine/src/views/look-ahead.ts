import { DELIVERY_BYTES_MAX, hasPushSlot, PUSH_BYTES_MAX } from "../push/dispatch.ts";
import type { Queue } from "../queue/queue.ts";
import { LeavingOrder } from "./leaving-order.ts";

/**
 * Reason why push deliveries, or receives, take no more messages than they would take now.
 *
 * - `nothingReady`: no message is left that could be leased.
 * - `batch`: the messages that are left are no full batch, and the first has not waited for the batch timeout.
 * - `slots`: as many deliveries run as may.
 * - `bytes`: the deliveries that run hold as many bytes as they may at a time.
 * - `limit`: the deliverer wants no more for now.
 */
export type Stop = "nothingReady" | "batch" | "slots" | "bytes" | "limit";

/** Messages that would be leased now. */
export interface LookAhead {
  readonly count: number;
  has(segmentId: number, index: number): boolean;
  readonly stop: Stop;
  /** When the other messages are due as a batch if nothing is sent, in ms; `null` unless it stops at `batch`. */
  readonly batchDueMs: number | null;
}

/** Limits of the deliverer on push deliveries. */
export interface PushAllowance {
  /** Most messages of a batch, within the rules; 0 for none. */
  readonly messagesMax: number;
  /** Most batches. */
  readonly batchesMax: number;
}

/** Returns the messages that calls of `nextBatch` would lease until it has no batch. Leases nothing. */
export function nextDeliveries(
  queue: Queue,
  { messagesMax, batchesMax }: PushAllowance,
  nowMs: number,
): LookAhead {
  const { maxBatchSize, batchTimeoutMs } = queue.rules;
  const order = new LeavingOrder(queue, nowMs);
  let { inFlight, inFlightBytes } = queue.push;
  const max = Math.min(maxBatchSize, messagesMax);
  for (let batches = 0; ; batches++) {
    if (batches >= batchesMax || max <= 0) return lookAhead(order, "limit");
    if (inFlightBytes >= PUSH_BYTES_MAX) return lookAhead(order, "bytes");
    const push = { ...queue.push, inFlight, inFlightBytes };
    if (!hasPushSlot({ push, rules: queue.rules })) return lookAhead(order, "slots");
    const { firstMs } = order;
    if (firstMs === null) return lookAhead(order, "nothingReady");
    const dueMs = firstMs + batchTimeoutMs;
    if (order.readyCount < maxBatchSize && nowMs < dueMs) return lookAhead(order, "batch", dueMs);
    const { bytes } = order.take({ max, bytesMax: DELIVERY_BYTES_MAX, deliveriesMax: Infinity });
    inFlight += 1;
    inFlightBytes += bytes;
  }
}

/**
 * Returns the messages that receives would lease if they took `max` together, and up to `atOnceMax` each. Leases
 * nothing.
 */
export function nextReceives(queue: Queue, max: number, atOnceMax: number, nowMs: number): LookAhead {
  const order = new LeavingOrder(queue, nowMs);
  const deliveriesMax = queue.rules.maxRetries + 1;
  while (order.count < max) {
    const portion = { max: Math.min(atOnceMax, max - order.count), bytesMax: Infinity, deliveriesMax };
    if (order.take(portion).count === 0) return lookAhead(order, "nothingReady");
  }
  return lookAhead(order, "limit");
}

function lookAhead(order: LeavingOrder, stop: Stop, batchDueMs: number | null = null): LookAhead {
  const { count } = order;
  return { count, stop, batchDueMs, has: (segmentId, index) => order.has(segmentId, index) };
}

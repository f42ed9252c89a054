import { type Lease, lease } from "../commands/lease.ts";
import { advance, firstReadyMs } from "../queue/advance.ts";
import type { Queue } from "../queue/queue.ts";
import { learnConcurrency } from "./concurrency.ts";

/**
 * Bodies on their way to consumers at a time, in bytes: a batch of 100 large messages must not fill the object's
 * memory.
 */
export const PUSH_BYTES_MAX = 16_000_000;

/**
 * Most body bytes of one batch to any consumer: Cloudflare's largest, 100 messages of 128,000 bytes. Other dialects
 * have larger messages, and one RPC carries 32 MiB at most.
 */
export const DELIVERY_BYTES_MAX = 12_800_000;

/**
 * Leases the next batch for push delivery if one is due: as soon as `max_batch_size` messages are ready, or when the
 * first ready one has waited `max_batch_timeout`, whichever comes first (spec cloudflare-queues 3.2). Messages that are
 * larger together than `DELIVERY_BYTES_MAX` make several batches.
 *
 * @param max most messages, at least 1, where the caller wants fewer than the rules allow. Default: as the rules.
 * @returns `null` when no batch is due or no further delivery may run.
 */
export function nextBatch(queue: Queue, nowMs: number, max = Number.POSITIVE_INFINITY): Lease | null {
  advance(queue, nowMs);
  if (!hasPushSlot(queue)) return null;
  const firstMs = firstReadyMs(queue) ?? Infinity;
  const { maxBatchSize, batchTimeoutMs, pushLeaseMs } = queue.rules;
  if (queue.readyCount < maxBatchSize && nowMs < firstMs + batchTimeoutMs) return null;
  const request = { expiresMs: nowMs + pushLeaseMs, kind: "push", bytesMax: DELIVERY_BYTES_MAX } as const;
  const batch = lease(queue, { ...request, max: Math.min(maxBatchSize, max) }, nowMs);
  if (batch === null) return null;
  queue.push.inFlight += 1;
  queue.push.inFlightBytes += batch.bytes;
  return batch;
}

/** How a push delivery ended. `notRun`: no handler ran, which says nothing about how many deliveries may run. */
export type PushEnd = "ok" | "failed" | "notRun";

/** Frees the slot of a push delivery. Call once per batch. */
export function pushEnded(queue: Queue, batch: Lease, end: PushEnd): void {
  queue.push.inFlight -= 1;
  queue.push.inFlightBytes -= batch.bytes;
  if (end !== "notRun") learnConcurrency(queue, end === "failed");
}

export function hasPushSlot({ push, rules }: Pick<Queue, "push" | "rules">): boolean {
  const target =
    rules.scalesConcurrency === false && rules.maxConcurrency !== null
      ? rules.maxConcurrency
      : Math.min(push.target, rules.maxConcurrency ?? push.target);
  return push.inFlight < target && push.inFlightBytes < PUSH_BYTES_MAX;
}

import type { Queue } from "./queue.ts";

/** Most push deliveries at a time (spec cloudflare-queues 0). */
export const CONCURRENCY_MAX = 250;
/** Deliveries whose outcome the scaler looks back on. */
const FAILURES_REMEMBERED = 10;

/**
 * Learns from a finished delivery how many may run at a time (spec cloudflare-queues 4): one more while whole batches
 * are waiting, half as many when most of the latest deliveries failed. A failure is never a reason for more. An explicit
 * retry is none: its delivery ended well. `max_concurrency` bounds it.
 */
export function learnConcurrency(queue: Queue, failed: boolean): void {
  const { push, rules } = queue;
  push.failures.push(failed);
  if (push.failures.length > FAILURES_REMEMBERED) push.failures.shift();
  const failures = push.failures.filter(Boolean).length;
  if (push.failures.length === FAILURES_REMEMBERED && 2 * failures > FAILURES_REMEMBERED) {
    push.target = Math.max(1, Math.floor(push.target / 2));
    push.failures.length = 0;
  } else if (!failed && queue.readyCount >= rules.maxBatchSize) {
    push.target += 1;
  } else if (queue.readyCount === 0 && push.inFlight === 0) {
    push.target = 1;
  }
  push.target = Math.min(push.target, rules.maxConcurrency ?? CONCURRENCY_MAX);
}

import type { Queue, QueueRules } from "../queue/queue.ts";

/** Most push deliveries at a time (spec cloudflare-queues 0). */
export const CONCURRENCY_MAX = 250;
/** Deliveries whose outcome the scaler looks back on. */
const FAILURES_REMEMBERED = 10;
/** Deliveries in a row, each of which leaves nothing to do, after which one at a time is taken to be enough again. */
export const IDLE_ENDS_MAX = 10;
/** The same where batches are single messages. */
export const IDLE_ENDS_OF_SINGLES_MAX = 100;

/**
 * Learns from a finished delivery how many may run at a time (spec cloudflare-queues 4): one more while whole batches
 * are waiting, half as many when most of the latest deliveries failed. A failure is never a reason for more. An
 * explicit retry is none: its delivery ended well. With nothing left to do it is two at most, and one when that was so
 * `IDLE_ENDS_MAX` times in a row: who sends the next batch when the last one is handled is often a little ahead of the
 * end of its delivery, and that batch would wait for a commit of its own each time. So it is two as well when anything
 * waits on a queue that gathers no batches (`max_batch_timeout` 0). Where a batch is one message, it is what it was
 * until `IDLE_ENDS_OF_SINGLES_MAX`: messages that wait are not gathered, and each takes a commit more.
 * `max_concurrency` bounds it.
 */
export function learnConcurrency(queue: Queue, failed: boolean): void {
  const { push, rules } = queue;
  push.failures.push(failed);
  if (push.failures.length > FAILURES_REMEMBERED) push.failures.shift();
  const failures = push.failures.filter(Boolean).length;
  const isIdle = queue.readyCount === 0 && push.inFlight === 0;
  push.idleEnds = isIdle ? push.idleEnds + 1 : 0;
  if (push.failures.length === FAILURES_REMEMBERED && 2 * failures > FAILURES_REMEMBERED) {
    push.target = Math.max(1, Math.floor(push.target / 2));
    push.failures.length = 0;
  } else if (!failed && queue.readyCount >= rules.maxBatchSize) {
    push.target += 1;
  } else if (!failed && queue.readyCount > 0 && rules.batchTimeoutMs === 0) {
    push.target = Math.max(push.target, 2);
  } else if (isIdle) {
    push.target = push.idleEnds < idleEndsMax(rules) ? Math.min(push.target, restingMax(rules)) : 1;
  }
  push.target = Math.min(push.target, rules.maxConcurrency ?? CONCURRENCY_MAX);
}

function idleEndsMax({ maxBatchSize }: QueueRules): number {
  return maxBatchSize === 1 ? IDLE_ENDS_OF_SINGLES_MAX : IDLE_ENDS_MAX;
}

/** Most deliveries at a time once nothing is left to do. */
function restingMax({ maxBatchSize }: QueueRules): number {
  return maxBatchSize === 1 ? CONCURRENCY_MAX : 2;
}

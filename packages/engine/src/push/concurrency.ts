import type { Queue, QueueRules } from "../queue/queue.ts";

/** Most push deliveries at a time (spec cloudflare-queues 0). */
export const CONCURRENCY_MAX = 250;
/** Deliveries whose outcome the scaler looks back on. */
const FAILURES_REMEMBERED = 10;
/** Deliveries in a row that leave nothing to do, after which one at a time is enough again. */
export const IDLE_ENDS_MAX = 10;
/** `IDLE_ENDS_MAX` for batches of single messages. */
export const IDLE_ENDS_OF_SINGLES_MAX = 100;

/**
 * Learns from a finished delivery how many may run at a time (spec cloudflare-queues 4). `max_concurrency` bounds the
 * number, and a failure is never a reason for more.
 *
 * - Whole batches are waiting: one more. An explicit retry is no failure.
 * - Most of the latest deliveries failed: half as many.
 * - Nothing is left to do: two at most, and one after `IDLE_ENDS_MAX` such ends in a row. A producer that sends the
 *   next batch when the last one is handled is often a little ahead of the end of its delivery: with one slot that
 *   batch would wait for a commit of its own each time.
 * - Anything waits on a queue that gathers no batches (`max_batch_timeout` 0): at least two, for the same reason.
 * - Batches are single messages and nothing is left to do: as many as before, until `IDLE_ENDS_OF_SINGLES_MAX` such
 *   ends. Messages that wait are not gathered, and each would take a commit more.
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
  // `maxConcurrency` can be 0 for a while: the target stays at one, to go on with.
  push.target = Math.max(1, Math.min(push.target, rules.maxConcurrency ?? CONCURRENCY_MAX));
}

/** Begins anew for another consumer: it gets one delivery at a time, beside those of the one before. */
export function forgetConcurrency({ push }: Queue): void {
  push.failures.length = 0;
  push.idleEnds = 0;
  push.target = Math.min(push.inFlight + 1, CONCURRENCY_MAX);
}

function idleEndsMax({ maxBatchSize }: QueueRules): number {
  return maxBatchSize === 1 ? IDLE_ENDS_OF_SINGLES_MAX : IDLE_ENDS_MAX;
}

/** Most deliveries at a time once nothing is left to do. */
function restingMax({ maxBatchSize }: QueueRules): number {
  return maxBatchSize === 1 ? CONCURRENCY_MAX : 2;
}

import type { Slice } from "@sluice/engine";
import type { DelayReason } from "@sluice/protocol";
import { jitterRandom, nextDelayMs } from "@sluice/retry";
import type { QueueContext } from "./context.ts";

type RetryContext = Pick<QueueContext, "name" | "queue" | "definition" | "jitterSeed">;

/**
 * How long messages wait that failed together and were given no delay, in ms: what the queue's retry policy says, else
 * its `retry_delay`.
 *
 * They share one jitter: a batch that failed comes back as a batch, and stays one entry of its segment's state. The
 * random number is a hash, so nothing depends on when it is asked for.
 *
 * @param key what tells them from others that failed: the id of the first of them.
 * @param attempts deliveries so far.
 */
export function unnamedDelayMs(context: RetryContext, key: string, attempts: number): number {
  const { name, queue, definition, jitterSeed } = context;
  const policy = definition?.consumer?.settings.retryPolicy;
  if (policy === undefined) return queue.rules.retryDelayMs;
  const random = () => jitterRandom(jitterSeed, name, key, attempts);
  // A policy that is exhausted has no delay; `rulesOf` has seen to it that such a message is dead.
  return nextDelayMs(policy, attempts, random) ?? 0;
}

/** Returns the setting that `unnamedDelayMs` goes by: the retry policy if there is one, else the retry delay. */
export function unnamedDelayReason({ definition }: Pick<QueueContext, "definition">): DelayReason {
  return definition?.consumer?.settings.retryPolicy === undefined ? "retryDelay" : "policy";
}

/** How long messages wait whose push delivery has not ended in time, in ms. */
export function expiryDelayMs(context: RetryContext, { segmentId, from, attempts }: Slice): number {
  // Their bytes are not read for it: where they stand tells them apart as well as their ids.
  return unnamedDelayMs(context, `${segmentId} ${from}`, attempts);
}

import type { Slice } from "@sluice/engine";
import type { DelayReason } from "@sluice/protocol";
import { jitterRandom, nextDelayMs } from "@sluice/retry";
import type { QueueContext } from "./context.ts";

type RetryContext = Pick<QueueContext, "name" | "queue" | "definition" | "jitterSeed">;

/**
 * Computes the delay of messages that failed together and were given none, in ms, by the queue's retry policy, else by
 * its `retry_delay`.
 *
 * They share one jitter, so that a failed batch comes back as a batch, and stays one entry of its segment's state. The
 * random number is a hash, so it does not depend on the time of the call.
 *
 * @param key of the jitter: the id of their first message.
 * @param attempts deliveries so far.
 */
export function unnamedDelayMs(context: RetryContext, key: string, attempts: number): number {
  const { name, queue, definition, jitterSeed } = context;
  const policy = definition?.consumer?.settings.retryPolicy;
  if (policy === undefined) return queue.rules.retryDelayMs;
  const random = () => jitterRandom(jitterSeed, name, key, attempts);
  // An exhausted policy has no delay, but by `rulesOf` such a message is dead before.
  return nextDelayMs(policy, attempts, random) ?? 0;
}

/** Names the setting that `unnamedDelayMs` uses: the retry policy if there is one, else the retry delay. */
export function unnamedDelayReason({ definition }: Pick<QueueContext, "definition">): DelayReason {
  return definition?.consumer?.settings.retryPolicy === undefined ? "retryDelay" : "policy";
}

/** Computes the delay of messages whose push delivery has not ended in time, in ms. */
export function expiryDelayMs(context: RetryContext, { segmentId, from, attempts }: Slice): number {
  // Their place is the key of the jitter, since their ids would have to be read.
  return unnamedDelayMs(context, `${segmentId} ${from}`, attempts);
}

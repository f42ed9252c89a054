import type { QueueDefinition } from "@sluice/protocol";
import { jitterRandom, nextDelayMs } from "@sluice/retry";

/**
 * How long a message waits that failed and was given no delay, in ms. How a policy counts is tested where it lives;
 * that a queue goes by it, and by the right attempt, is what a history looks at.
 *
 * @param key what the jitter depends on: the message's id, or its place where nobody reads the id.
 */
export function unnamedDelayMs(
  definition: QueueDefinition,
  queue: string,
  key: string,
  attempts: number,
): number {
  const settings = definition.consumer?.settings;
  const policy = settings?.retryPolicy;
  if (policy === undefined) return 1_000 * (settings?.retryDelaySeconds ?? 0);
  return nextDelayMs(policy, attempts, () => jitterRandom("", queue, key, attempts)) ?? 0;
}

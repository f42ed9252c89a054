import type { QueueDefinition } from "@sluice/protocol";
import { jitterRandom, nextDelayMs } from "@sluice/retry";

/**
 * Delay of a failed message for which no delay was named, in ms. The policies are tested in `@sluice/retry`; a history
 * checks that a queue applies its own, with the right attempt number.
 *
 * @param key input of the jitter: the message's id, or its place in the store where the broker does not read the id.
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

import type { Slice } from "@sluice/engine";
import type { RetryPolicySettings } from "@sluice/protocol";
import { jitterRandom, nextDelayMs } from "@sluice/retry";
import type { QueueCore } from "./queue-core.ts";

/** What decides the delay of retries that name none; `null` where that is the plain `retry_delay`. */
export function retryPolicyOf({ ports, name }: QueueCore): RetryPolicySettings | null {
  return ports.definitionOf(name)?.consumer?.settings.retryPolicy ?? null;
}

/**
 * How long messages wait that failed together, in ms, jitter included. They share one delay: a batch that failed comes
 * back as a batch, and stays one entry of its segment's state. The random number is a hash, so nothing depends on when it
 * is asked for.
 *
 * @param key what tells them from others that failed: the id of the first of them.
 * @param attempts deliveries so far.
 */
export function policyDelayMs(
  { ports, name }: QueueCore,
  policy: RetryPolicySettings,
  key: string,
  attempts: number,
): number {
  const random = () => jitterRandom(ports.jitterSeed ?? "", name, key, attempts);
  // A policy that is exhausted has no delay; `rulesOf` has seen to it that such a message is dead.
  return nextDelayMs(policy, attempts, random) ?? 0;
}

/** How long messages wait whose push delivery has not ended in time, in ms. */
export function lapseDelayMs(core: QueueCore, { segmentId, from, attempts }: Slice): number {
  const policy = retryPolicyOf(core);
  if (policy === null) return core.queue.rules.retryDelayMs;
  // Their bytes are not read for it: where they stand tells them apart as well as their ids.
  return policyDelayMs(core, policy, `${segmentId} ${from}`, attempts);
}

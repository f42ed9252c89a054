import { type FourPhasePolicy, fourPhaseDelayMs } from "./four-phase.ts";
import { type Jitter, jittered } from "./jitter.ts";

/** Longest delay of a message, in seconds: 24 hours (spec cloudflare-queues 0). */
export const DELAY_SECONDS_MAX = 86_400;

/** The same delay before every retry: Cloudflare's `retry_delay`. */
export interface FixedPolicy {
  readonly kind: "fixed";
  readonly delaySeconds: number;
  readonly jitter: Jitter;
}

/** `base ** attempts` seconds, as in Cloudflare's example of a backoff, and at most `maxSeconds`. */
export interface ExponentialPolicy {
  readonly kind: "exponential";
  readonly base: number;
  readonly maxSeconds: number;
  readonly jitter: Jitter;
}

/** SNS's four phases. The only policy that says how many retries there are. */
export interface SnsPolicy extends FourPhasePolicy {
  readonly kind: "sns";
  readonly jitter: Jitter;
}

/**
 * When a message that failed is delivered again: plain data, so that it can stand in a configuration and cross a wire.
 */
export type RetryPolicy = FixedPolicy | ExponentialPolicy | SnsPolicy;

/**
 * The delay before the next attempt in whole ms, jitter included; the same effort for every attempt.
 *
 * @param attempt number of the attempt that failed, 1 for the first delivery.
 * @param random gives a number in [0, 1); asked only where the policy has jitter. Without it there is no jitter.
 * @returns `null` when the policy has no attempt after this one.
 * @throws RangeError when `attempt` is no positive integer.
 */
export function nextDelayMs(policy: RetryPolicy, attempt: number, random?: () => number): number | null {
  const delayMs = nominalDelayMs(policy, attempt);
  if (delayMs === null || random === undefined || policy.jitter === "none") return delayMs;
  return jittered(delayMs, policy.jitter, random());
}

function nominalDelayMs(policy: RetryPolicy, attempt: number): number | null {
  if (!Number.isInteger(attempt) || attempt < 1) throw new RangeError(`there is no attempt ${attempt}`);
  switch (policy.kind) {
    case "fixed":
      return Math.round(1000 * policy.delaySeconds);
    case "exponential":
      return Math.round(1000 * Math.min(policy.maxSeconds, policy.base ** attempt));
    case "sns":
      return fourPhaseDelayMs(policy, attempt);
  }
}

/** How many retries a policy has; `null` when it leaves that to the queue's `max_retries`. */
export function retriesOf(policy: RetryPolicy): number | null {
  return policy.kind === "sns" ? policy.numRetries : null;
}

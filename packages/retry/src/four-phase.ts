/** How the delays of the backoff phase grow from the first to the last (spec sns-delivery 4.1). */
export type BackoffFunction = "linear" | "arithmetic" | "geometric" | "exponential";

export const BACKOFF_FUNCTIONS: readonly BackoffFunction[] = [
  "linear",
  "arithmetic",
  "geometric",
  "exponential",
];

/**
 * SNS's retry policy with every member set (spec sns-delivery 2.1). The retries after the first attempt pass through
 * four phases: at once, every `minDelayTarget`, growing from the one to the other, every `maxDelayTarget`.
 */
export interface FourPhasePolicy {
  /** First delay of the backoff phase and every delay of the phase before it, in seconds. */
  readonly minDelayTarget: number;
  /** Last delay of the backoff phase and every delay of the phase after it, in seconds. */
  readonly maxDelayTarget: number;
  /** Retries of all four phases; a message is delivered once more than this. */
  readonly numRetries: number;
  readonly numMaxDelayRetries: number;
  readonly numNoDelayRetries: number;
  readonly numMinDelayRetries: number;
  readonly backoffFunction: BackoffFunction;
}

/**
 * How far the delay of retry `i` of the backoff phase has come from 0 (`i = 0`) to 1 (`i = m`). The curves are those of
 * SNS's own figure: all but the first lie below the straight line, which the textbook forms of these names do not.
 */
const PROGRESS: Readonly<Record<BackoffFunction, (i: number, m: number) => number>> = {
  linear: (i, m) => i / m,
  arithmetic: (i, m) => (i * (i + 1)) / (m * (m + 1)),
  geometric: (i, m) => (i / m) ** 2.5,
  // (2^i - 1) / (2^m - 1), without powers that overflow.
  exponential: (i, m) => (2 ** (i - m) - 2 ** -m) / (1 - 2 ** -m),
};

/** Counts the retries of the backoff phase: those of `numRetries` that the other three leave. */
export function backoffRetries(policy: FourPhasePolicy): number {
  const { numRetries, numNoDelayRetries, numMinDelayRetries, numMaxDelayRetries } = policy;
  return numRetries - numNoDelayRetries - numMinDelayRetries - numMaxDelayRetries;
}

/**
 * The delay before a retry, in ms, before jitter and throttle (spec sns-delivery 4.5). Takes the same time for retry
 * 100,000 as for retry 1.
 *
 * @param retry 1 for the first retry, which follows the first failed attempt.
 * @returns `null` when the policy has no such retry: the message is out of retries.
 */
export function fourPhaseDelayMs(policy: FourPhasePolicy, retry: number): number | null {
  if (!Number.isInteger(retry) || retry < 1 || retry > policy.numRetries) return null;
  const { minDelayTarget: min, maxDelayTarget: max } = policy;
  let position = retry - policy.numNoDelayRetries;
  if (position <= 0) return 0;
  if (position <= policy.numMinDelayRetries) return Math.round(1000 * min);
  position -= policy.numMinDelayRetries;
  const count = backoffRetries(policy);
  if (position > count) return Math.round(1000 * max);
  // A single retry is both the first and the last: the first counts.
  const progress = count === 1 ? 0 : PROGRESS[policy.backoffFunction](position - 1, count - 1);
  return Math.round(1000 * (min + (max - min) * progress));
}

/**
 * The sum of all delays of a policy in ms, attempts taken to last no time. Sums up the backoff phase delay by delay,
 * since each is rounded; the other phases cost nothing, however long they are.
 */
export function totalDelayMs(policy: FourPhasePolicy): number {
  const { numNoDelayRetries, numMinDelayRetries, numMaxDelayRetries, minDelayTarget, maxDelayTarget } =
    policy;
  let totalMs = Math.round(
    1000 * (numMinDelayRetries * minDelayTarget + numMaxDelayRetries * maxDelayTarget),
  );
  const first = numNoDelayRetries + numMinDelayRetries + 1;
  for (let retry = first; retry < first + backoffRetries(policy); retry++) {
    totalMs += fourPhaseDelayMs(policy, retry) ?? 0;
  }
  return totalMs;
}

import {
  BACKOFF_FUNCTIONS,
  type BackoffFunction,
  type FourPhasePolicy,
  totalDelayMs,
} from "../four-phase.ts";
import { SNS_DEFAULTS } from "../presets.ts";
import type { RetryMembers } from "./document.ts";

/** Longest delay of a policy, in seconds. */
const DELAY_TARGET_SECONDS_MAX = 3_600;
/** Most retries of a policy. */
const RETRIES_MAX = 100;
/** Longest that all delays of a policy may take together, in seconds. */
export const TOTAL_SECONDS_MAX = 3_600;

/** Rules of SNS that a caller relaxes. */
export interface RetryLeniency {
  /** Longest that all delays may take together, in seconds. Default: `TOTAL_SECONDS_MAX`; less counts as that. */
  readonly totalSecondsMax?: number;
}

/** Reason for which a retry policy is refused. */
export interface RetryFault {
  /** The member at fault; `null` for the policy as a whole. */
  readonly member: keyof FourPhasePolicy | null;
  /** Text of SNS, which is put behind the path of the policy: `.numRetries must be ...`. */
  readonly text: string;
}

const REQUIRED = ["minDelayTarget", "maxDelayTarget", "numRetries"] as const;

const RANGES = [
  ["minDelayTarget", 1, Infinity],
  ["maxDelayTarget", 1, DELAY_TARGET_SECONDS_MAX],
  ["numRetries", 0, RETRIES_MAX],
  ["numMaxDelayRetries", 0, Infinity],
  ["numNoDelayRetries", 0, Infinity],
  ["numMinDelayRetries", 0, Infinity],
] as const;

/**
 * Fills missing members of a policy with SNS's defaults. A subscription's policy takes no single members from that of
 * its topic (spec sns-delivery 2.7).
 */
export function fillRetryPolicy(members: RetryMembers): FourPhasePolicy {
  return { ...SNS_DEFAULTS, ...members };
}

/** The first thing wrong with a retry policy whose members have the right types, or `null` (spec sns-delivery 2.5). */
export function retryFault(members: RetryMembers, leniency: RetryLeniency = {}): RetryFault | null {
  for (const member of REQUIRED) {
    if (members[member] === undefined) return fault(member, "must be specified");
  }
  for (const [member, min, max] of RANGES) {
    const value = members[member];
    if (value === undefined) continue;
    if (value < min) return fault(member, `must be greater than or equal to ${min}`);
    if (value > max) return fault(member, `must be less than or equal to ${max}`);
  }
  const { backoffFunction } = members;
  if (backoffFunction !== undefined && !isBackoffFunction(backoffFunction)) {
    const text =
      `.backoffFunction: Invalid value [${backoffFunction}]. Must be linear, arithmetic, geometric or ` +
      "exponential.";
    return { member: "backoffFunction", text };
  }
  return crossFieldFault(fillRetryPolicy(members), leniency);
}

function crossFieldFault(policy: FourPhasePolicy, leniency: RetryLeniency): RetryFault | null {
  const { numNoDelayRetries, numMinDelayRetries, numMaxDelayRetries } = policy;
  if (policy.maxDelayTarget < policy.minDelayTarget) {
    return fault("maxDelayTarget", "must be greater than or equal to minDelayTarget");
  }
  if (numNoDelayRetries + numMinDelayRetries + numMaxDelayRetries > policy.numRetries) {
    return fault(
      "numRetries",
      "must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries",
    );
  }
  const totalSecondsMax = Math.max(TOTAL_SECONDS_MAX, leniency.totalSecondsMax ?? 0);
  if (totalDelayMs(policy) > 1000 * totalSecondsMax) {
    return {
      member: null,
      text: `: total retry time must be less than or equal to ${totalSecondsMax} seconds`,
    };
  }
  return null;
}

function isBackoffFunction(value: string): value is BackoffFunction {
  return BACKOFF_FUNCTIONS.some((name) => name === value);
}

function fault(member: keyof FourPhasePolicy, text: string): RetryFault {
  return { member, text: `.${member} ${text}` };
}

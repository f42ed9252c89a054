import type { FourPhasePolicy } from "./four-phase.ts";

/**
 * Policies with a name (spec sns-delivery 1, 11.5). SNS uses the last two itself: `sns-managed` for endpoints
 * that AWS runs, `sns-customer` for people's mailboxes and phones. They last for 23 days and for more than 6 hours,
 * longer than a policy of a user may.
 */
export const SNS_PRESETS = {
  "sns-http-default": {
    minDelayTarget: 20,
    maxDelayTarget: 20,
    numRetries: 3,
    numMaxDelayRetries: 0,
    numNoDelayRetries: 0,
    numMinDelayRetries: 0,
    backoffFunction: "linear",
  },
  "sns-http-sample": {
    minDelayTarget: 1,
    maxDelayTarget: 60,
    numRetries: 50,
    numMaxDelayRetries: 35,
    numNoDelayRetries: 3,
    numMinDelayRetries: 2,
    backoffFunction: "exponential",
  },
  "sns-managed": {
    minDelayTarget: 1,
    maxDelayTarget: 20,
    numRetries: 100_015,
    numMaxDelayRetries: 100_000,
    numNoDelayRetries: 3,
    numMinDelayRetries: 2,
    backoffFunction: "exponential",
  },
  "sns-customer": {
    minDelayTarget: 10,
    maxDelayTarget: 600,
    numRetries: 50,
    numMaxDelayRetries: 38,
    numNoDelayRetries: 0,
    numMinDelayRetries: 2,
    backoffFunction: "exponential",
  },
} as const satisfies Readonly<Record<string, FourPhasePolicy>>;

export type SnsPreset = keyof typeof SNS_PRESETS;

/** Default of each member of a retry policy: SNS's own for HTTP and HTTPS (spec sns-delivery 2.2). */
export const SNS_DEFAULTS: FourPhasePolicy = SNS_PRESETS["sns-http-default"];

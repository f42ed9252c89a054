/** How a delay is spread, so that messages which failed together do not come back together. */
type Jitter = "none" | "equal" | "full";

/**
 * When a message that failed is delivered again, if neither its handler nor its client names a delay: the plain data of
 * a policy of `@sluice/retry`, which checks and computes it. A contract: it is stored as part of `QueueTopology`. Kinds
 * and optional members may be added.
 */
export type RetryPolicySettings =
  /** The same delay before every retry. */
  | { readonly kind: "fixed"; readonly delaySeconds: number; readonly jitter: Jitter }
  /** `base ** attempts` seconds, at most `maxSeconds`. */
  | {
      readonly kind: "exponential";
      readonly base: number;
      readonly maxSeconds: number;
      readonly jitter: Jitter;
    }
  /** The four phases of Amazon SNS; delays in seconds. `numRetries` counts instead of the consumer's `maxRetries`. */
  | {
      readonly kind: "sns";
      readonly minDelayTarget: number;
      readonly maxDelayTarget: number;
      readonly numRetries: number;
      readonly numMaxDelayRetries: number;
      readonly numNoDelayRetries: number;
      readonly numMinDelayRetries: number;
      readonly backoffFunction: "linear" | "arithmetic" | "geometric" | "exponential";
      readonly jitter: Jitter;
    };

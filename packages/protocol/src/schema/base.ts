import * as z from "zod/mini";
import { DELAY_SECONDS_MAX, isQueueName, RETRIES_MAX, VISIBILITY_TIMEOUT_MS_MAX } from "../limits.ts";

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number) {
  const text = `must be a whole number from ${min} to ${max}`;
  return z
    .number("must be a number")
    .check(z.refine((value) => Number.isInteger(value) && value >= min && value <= max, text));
}

/** A text that fits a pattern. */
export function textLike(pattern: RegExp, text: string) {
  return z.string("must be a text").check(z.refine((value) => pattern.test(value), text));
}

/** The name of a queue in the directory. */
export const queueName = z
  .string("must be a text")
  .check(
    z.refine(
      isQueueName,
      "must be a queue's name: 1 to 80 letters, digits, hyphens and underscores, .fifo at the end of a FIFO queue's",
    ),
  );

export const delaySeconds = whole(0, DELAY_SECONDS_MAX);
export const retries = whole(0, RETRIES_MAX);
export const visibilityTimeoutMs = whole(0, VISIBILITY_TIMEOUT_MS_MAX);

const jitter = z.enum(["none", "equal", "full"]);
const count = whole(0, Number.MAX_SAFE_INTEGER);

/** A retry policy. `@sluice/retry` checks whether its numbers go together. */
export const retryPolicy = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("fixed"), delaySeconds, jitter }),
  z.strictObject({
    kind: z.literal("exponential"),
    base: z.number().check(z.gte(1), z.lte(DELAY_SECONDS_MAX)),
    maxSeconds: delaySeconds,
    jitter,
  }),
  z.strictObject({
    kind: z.literal("sns"),
    minDelayTarget: count,
    maxDelayTarget: count,
    numRetries: count,
    numMaxDelayRetries: count,
    numNoDelayRetries: count,
    numMinDelayRetries: count,
    backoffFunction: z.enum(["linear", "arithmetic", "geometric", "exponential"]),
    jitter,
  }),
]);

/** Settings that each kind of consumer has. */
export const sharedByConsumers = {
  maxRetries: retries,
  retryDelaySeconds: delaySeconds,
  retryPolicy: z.optional(retryPolicy),
  deadLetterQueue: z.nullable(queueName),
};

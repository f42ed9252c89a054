import {
  BATCH_SIZE_DEFAULT,
  BATCH_SIZE_MAX,
  BATCH_SIZE_MIN,
  BATCH_TIMEOUT_SECONDS_DEFAULT,
  BATCH_TIMEOUT_SECONDS_MAX,
  CONCURRENCY_MAX,
  CONCURRENCY_MIN,
  type ConsumerDefinition,
  DELAY_SECONDS_MAX,
  NOTIFICATION_RETRIES,
  NOTIFICATION_RETRY_DELAY_SECONDS,
  PULL_BATCH_SIZE_DEFAULT,
  RETRIES_DEFAULT,
  RETRIES_MAX,
  VISIBILITY_TIMEOUT_MS_DEFAULT,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import * as z from "zod/mini";
import { API_CODES, ApiError } from "../api-error.ts";
import { firstIssue, wholeNumber } from "../json-body.ts";
import { checkQueueName } from "./queue-body.ts";

const shared = { dead_letter_queue: z.nullish(z.string()), settings: z.optional(z.unknown()) };

/** Body of a request that gives a queue a consumer. Its `environment_name`, of former Workers, is ignored. */
export const consumerBody = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("worker"),
    script_name: z.string().check(z.minLength(1, "Required")),
    ...shared,
  }),
  z.object({ type: z.literal("http_pull"), ...shared }),
  z.object({ type: z.literal("notification"), ...shared }),
]);

const batchSize = wholeNumber(BATCH_SIZE_MIN, BATCH_SIZE_MAX);
const settingsOfBoth = {
  max_retries: z._default(wholeNumber(0, RETRIES_MAX), RETRIES_DEFAULT),
  retry_delay: z._default(wholeNumber(0, DELAY_SECONDS_MAX), 0),
};
const workerSettings = z.object({
  ...settingsOfBoth,
  batch_size: z._default(batchSize, BATCH_SIZE_DEFAULT),
  max_wait_time_ms: z._default(
    wholeNumber(0, 1000 * BATCH_TIMEOUT_SECONDS_MAX),
    1000 * BATCH_TIMEOUT_SECONDS_DEFAULT,
  ),
  max_concurrency: z.nullish(wholeNumber(CONCURRENCY_MIN, CONCURRENCY_MAX)),
});
const pullSettings = z.object({
  ...settingsOfBoth,
  // Messages of a pull that names no number (spec cloudflare-queues 5.2).
  batch_size: z._default(batchSize, PULL_BATCH_SIZE_DEFAULT),
  visibility_timeout_ms: z._default(wholeNumber(0, VISIBILITY_TIMEOUT_MS_MAX), VISIBILITY_TIMEOUT_MS_DEFAULT),
});

/** Destinations of one kind, as Wrangler sends them (workers-sdk#15381). */
const destinations = z._default(z.array(z.object({ id: z.string().check(z.minLength(1, "Required")) })), []);
const notificationSettings = z
  .object({ email: destinations, pagerduty: destinations, webhooks: destinations })
  .check(
    z.refine(
      ({ email, pagerduty, webhooks }) => email.length + pagerduty.length + webhooks.length > 0,
      "Must have at least one destination: email, pagerduty or webhooks",
    ),
  );

/**
 * Makes the consumer that a body describes, with production's defaults for absent settings.
 *
 * @throws ApiError 100127 for a setting out of range, 11003 for a dead-letter queue that cannot exist.
 */
export function consumerOf(body: z.infer<typeof consumerBody>): ConsumerDefinition {
  const deadLetterQueue = body.dead_letter_queue || null;
  if (deadLetterQueue !== null) checkQueueName(deadLetterQueue);
  if (body.type === "worker") {
    const settings = check(workerSettings, body.settings);
    return {
      type: "worker",
      worker: body.script_name,
      settings: {
        maxBatchSize: settings.batch_size,
        maxBatchTimeoutSeconds: settings.max_wait_time_ms / 1000,
        maxRetries: settings.max_retries,
        maxConcurrency: settings.max_concurrency ?? null,
        retryDelaySeconds: settings.retry_delay,
        deadLetterQueue,
      },
    };
  }
  if (body.type === "notification") {
    const settings = check(notificationSettings, body.settings);
    const ids = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);
    return {
      type: "notification",
      settings: {
        email: ids(settings.email),
        pagerduty: ids(settings.pagerduty),
        webhooks: ids(settings.webhooks),
        maxRetries: NOTIFICATION_RETRIES,
        retryDelaySeconds: NOTIFICATION_RETRY_DELAY_SECONDS,
        maxConcurrency: null,
        deadLetterQueue,
      },
    };
  }
  const settings = check(pullSettings, body.settings);
  return {
    type: "http_pull",
    settings: {
      maxBatchSize: settings.batch_size,
      maxRetries: settings.max_retries,
      retryDelaySeconds: settings.retry_delay,
      visibilityTimeoutMs: settings.visibility_timeout_ms,
      deadLetterQueue,
    },
  };
}

function check<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  const text = `The consumer settings are invalid: ${firstIssue(result.error)}.`;
  throw new ApiError(400, API_CODES.consumerSettingsInvalid, text);
}

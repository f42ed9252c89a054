import {
  DELAY_SECONDS_MAX,
  JURISDICTIONS,
  QUEUE_NAME_PATTERN,
  type QueueSettingsChange,
  RETENTION_SECONDS_DEFAULT,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
} from "@sluice/protocol";
import * as z from "zod/mini";
import { API_CODES, ApiError } from "../api-error.ts";
import { firstIssue, wholeNumber } from "../json-body.ts";

/** Settings in a body that creates or changes a queue, not checked yet: their faults have a code of their own. */
const settings = z.optional(z.unknown());
export const newQueueBody = z.object({
  queue_name: z.string(),
  jurisdiction: z.optional(z.enum(JURISDICTIONS)),
  settings,
});
export const queueChangeBody = z.object({ queue_name: z.optional(z.string()), settings });

const settingsSchema = z.object({
  delivery_delay: z.optional(wholeNumber(0, DELAY_SECONDS_MAX)),
  delivery_paused: z.optional(z.boolean()),
  message_retention_period: z.optional(wholeNumber(RETENTION_SECONDS_MIN, RETENTION_SECONDS_MAX)),
});

/**
 * Reads a queue's settings in a body. Absent ones stay absent.
 *
 * @throws ApiError 100128 for a value out of range.
 */
export function queueSettings(value: unknown): QueueSettingsChange {
  const result = settingsSchema.safeParse(value ?? {});
  if (!result.success) {
    const text = `The queue settings are invalid: ${firstIssue(result.error)}.`;
    throw new ApiError(400, API_CODES.queueSettingsInvalid, text);
  }
  const { delivery_delay, delivery_paused, message_retention_period } = result.data;
  return {
    ...(delivery_delay === undefined ? {} : { deliveryDelaySeconds: delivery_delay }),
    ...(delivery_paused === undefined ? {} : { deliveryPaused: delivery_paused }),
    ...(message_retention_period === undefined ? {} : { messageRetentionSeconds: message_retention_period }),
  };
}

/** Settings that a PUT with an empty body gives a queue: a PUT replaces everything. */
export const SETTINGS_DEFAULT = {
  deliveryDelaySeconds: 0,
  deliveryPaused: false,
  messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
} satisfies QueueSettingsChange;

/** Throws ApiError 11003 for a name that no queue can have. */
export function checkQueueName(name: string): void {
  if (QUEUE_NAME_PATTERN.test(name)) return;
  throw new ApiError(
    400,
    API_CODES.queueNameInvalid,
    `Invalid queue name: invalid queue name: ${name}. Must match ${QUEUE_NAME_PATTERN.source}`,
  );
}

/** Throws ApiError 100128 when a change would rename a queue: producers and messages are found by its name. */
export function refuseRename(current: string, name: string | undefined): void {
  if (name === undefined || name === current) return;
  const text = `A queue cannot be renamed: it is called '${current}'. Create '${name}' instead.`;
  throw new ApiError(400, API_CODES.queueSettingsInvalid, text);
}

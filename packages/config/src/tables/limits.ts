import {
  BATCH_SIZE_MAX,
  BATCH_SIZE_MIN,
  BATCH_TIMEOUT_SECONDS_MAX,
  CONCURRENCY_MAX,
  CONCURRENCY_MIN,
  CONNECT_TIMEOUT_SECONDS_MAX,
  CONNECT_TIMEOUT_SECONDS_MIN,
  DELAY_SECONDS_MAX,
  FINISHED_MESSAGES_MAX,
  HTTP_CONCURRENCY_MAX,
  HTTP_CONCURRENCY_MIN,
  isBindableQueueName,
  QUEUE_NAME_PATTERN,
  RECEIVE_COUNT_MAX,
  RECEIVE_WAIT_MS_MAX,
  RECEIVES_PER_SECOND_MAX,
  RESPONSE_TIMEOUT_SECONDS_MAX,
  RESPONSE_TIMEOUT_SECONDS_MIN,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
  RETRIES_MAX,
  SHARDS_MAX,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import { CATCH_UP_MS_MAX } from "@sluice/sqsd";
import { type Place, placeOf, type Report } from "../file/report.ts";
import type { Table } from "../file/table.ts";

/** Range of a numeric key, both ends included. */
export interface SettingRange {
  readonly min: number;
  readonly max: number;
  /** Unit of the number, for the message. */
  readonly unit: string;
  /** Whether the number may have decimals: only a duration that the API takes in a finer unit may. */
  readonly decimals: boolean;
}

function whole(min: number, max: number, unit: string): SettingRange {
  return { min, max, unit, decimals: false };
}

const DELAY = whole(0, DELAY_SECONDS_MAX, "seconds");

/**
 * The ranges of a consumer's keys (spec cloudflare-queues 3.1). Wrangler checks none of them; production refuses values
 * outside of them at deploy. `visibility_timeout_ms` never reaches production. It is checked all the same, since a
 * value that no queue can have is a mistake.
 */
export const CONSUMER_RANGES = {
  max_batch_size: whole(BATCH_SIZE_MIN, BATCH_SIZE_MAX, "messages"),
  max_batch_timeout: { min: 0, max: BATCH_TIMEOUT_SECONDS_MAX, unit: "seconds", decimals: true },
  max_retries: whole(0, RETRIES_MAX, "retries"),
  max_concurrency: whole(CONCURRENCY_MIN, CONCURRENCY_MAX, "invocations"),
  visibility_timeout_ms: whole(0, VISIBILITY_TIMEOUT_MS_MAX, "milliseconds"),
  retry_delay: DELAY,
} as const satisfies Readonly<Record<string, SettingRange>>;

/** The range of a producer's only number. */
export const PRODUCER_RANGES = { delivery_delay: DELAY } as const;

/** The ranges of a queue's own settings (spec cloudflare-queues 0). */
export const QUEUE_RANGES = {
  delivery_delay: DELAY,
  message_retention_period: whole(RETENTION_SECONDS_MIN, RETENTION_SECONDS_MAX, "seconds"),
  visibility_timeout: whole(0, VISIBILITY_TIMEOUT_MS_MAX / 1_000, "seconds"),
  receive_wait_time: whole(0, RECEIVE_WAIT_MS_MAX / 1_000, "seconds"),
  max_receives_per_second: whole(1, RECEIVES_PER_SECOND_MAX, "messages"),
  finished: whole(0, FINISHED_MESSAGES_MAX, "messages"),
  shards: whole(1, SHARDS_MAX, "shards"),
} as const satisfies Readonly<Record<string, SettingRange>>;

/** The ranges of settings for all topics: a message lives at most as long as in a queue. */
export const SNS_RANGES = { message_life: QUEUE_RANGES.message_retention_period } as const satisfies Readonly<
  Record<string, SettingRange>
>;

/** The range of a redrive policy's number (spec sqs 6.1). */
export const REDRIVE_RANGES = {
  max_receive_count: whole(1, RECEIVE_COUNT_MAX, "receives"),
} as const satisfies Readonly<Record<string, SettingRange>>;

/** The ranges of an HTTP endpoint's settings. */
export const PUSH_RANGES = {
  max_concurrency: whole(HTTP_CONCURRENCY_MIN, HTTP_CONCURRENCY_MAX, "requests"),
  connect_timeout: whole(CONNECT_TIMEOUT_SECONDS_MIN, CONNECT_TIMEOUT_SECONDS_MAX, "seconds"),
  response_timeout: whole(RESPONSE_TIMEOUT_SECONDS_MIN, RESPONSE_TIMEOUT_SECONDS_MAX, "seconds"),
  max_retries: CONSUMER_RANGES.max_retries,
  retry_delay: DELAY,
  cron_catch_up_window: whole(1, CATCH_UP_MS_MAX / 1_000, "seconds"),
} as const satisfies Readonly<Record<string, SettingRange>>;

/**
 * Reports every number of a table that is outside its range, and returns whether none is. Absent keys and values of
 * other types pass.
 */
export function checkRanges(
  table: Table,
  place: Place,
  ranges: Readonly<Record<string, SettingRange>>,
  report: Report,
): boolean {
  let isInRange = true;
  for (const [key, range] of Object.entries(ranges)) {
    const value = table[key];
    if (typeof value !== "number" || isWithin(value, range)) continue;
    isInRange = false;
    const kind = range.decimals ? "number" : "whole number";
    report.fieldError(
      placeOf(place, key),
      `should be a ${kind} of ${range.unit} from ${range.min} to ${range.max} but got ${value}.`,
    );
  }
  return isInRange;
}

function isWithin(value: number, range: SettingRange): boolean {
  return value >= range.min && value <= range.max && (range.decimals || Number.isInteger(value));
}

/** Note on an invalid name in one of Cloudflare's own tables. */
const WHO_REFUSES =
  'Cloudflare refuses it when the Worker is deployed. "wrangler dev" alone would take any name, and so ' +
  "would hide that.";

/**
 * Reports a name that no queue can have, in the words of the API's code 11003 (spec cloudflare-queues 6.8). Names of
 * FIFO queues, which production does not have, end in `.fifo`.
 */
export function checkQueueName(name: string, place: Place, report: Report): void {
  if (isBindableQueueName(name)) return;
  const note = place.path[0] === "sluice" ? "" : `\n${WHO_REFUSES}`;
  report.error(
    place,
    `Invalid queue name: invalid queue name: ${name}. Must match ${QUEUE_NAME_PATTERN.source}${note}`,
  );
}

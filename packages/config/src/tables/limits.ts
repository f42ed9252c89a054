import {
  BATCH_SIZE_MAX,
  BATCH_SIZE_MIN,
  BATCH_TIMEOUT_SECONDS_MAX,
  CONCURRENCY_MAX,
  CONCURRENCY_MIN,
  CONNECT_TIMEOUT_SECONDS_MAX,
  CONNECT_TIMEOUT_SECONDS_MIN,
  DELAY_SECONDS_MAX,
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
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import { CATCH_UP_MS_MAX } from "@sluice/sqsd";
import { type Place, placeOf, type Report } from "../file/report.ts";
import type { Table } from "../file/table.ts";

/** What a numeric key may be set to, both ends included. */
export interface SettingRange {
  readonly min: number;
  readonly max: number;
  /** What is counted, for the message. */
  readonly unit: string;
  /** Only a duration that the API takes in a finer unit may have decimals. */
  readonly decimals: boolean;
}

const DELAY: SettingRange = { min: 0, max: DELAY_SECONDS_MAX, unit: "seconds", decimals: false };

/**
 * The ranges of a consumer's keys (spec cloudflare-queues 3.1). Wrangler checks none of them, production refuses at
 * deploy what lies outside. `visibility_timeout_ms` never reaches production; it is checked all the same, for a value
 * that no queue could have is a mistake.
 */
export const CONSUMER_RANGES = {
  max_batch_size: { min: BATCH_SIZE_MIN, max: BATCH_SIZE_MAX, unit: "messages", decimals: false },
  max_batch_timeout: { min: 0, max: BATCH_TIMEOUT_SECONDS_MAX, unit: "seconds", decimals: true },
  max_retries: { min: 0, max: RETRIES_MAX, unit: "retries", decimals: false },
  max_concurrency: { min: CONCURRENCY_MIN, max: CONCURRENCY_MAX, unit: "invocations", decimals: false },
  visibility_timeout_ms: { min: 0, max: VISIBILITY_TIMEOUT_MS_MAX, unit: "milliseconds", decimals: false },
  retry_delay: DELAY,
} as const satisfies Readonly<Record<string, SettingRange>>;

/** The range of a producer's only number. */
export const PRODUCER_RANGES = { delivery_delay: DELAY } as const;

/** The ranges of a queue's own settings (spec cloudflare-queues 0). */
export const QUEUE_RANGES = {
  delivery_delay: DELAY,
  message_retention_period: {
    min: RETENTION_SECONDS_MIN,
    max: RETENTION_SECONDS_MAX,
    unit: "seconds",
    decimals: false,
  },
  visibility_timeout: {
    min: 0,
    max: VISIBILITY_TIMEOUT_MS_MAX / 1_000,
    unit: "seconds",
    decimals: false,
  },
  receive_wait_time: { min: 0, max: RECEIVE_WAIT_MS_MAX / 1_000, unit: "seconds", decimals: false },
  max_receives_per_second: {
    min: 1,
    max: RECEIVES_PER_SECOND_MAX,
    unit: "messages",
    decimals: false,
  },
} as const satisfies Readonly<Record<string, SettingRange>>;

/** The range of what is set of all topics: a message lives as long as it could in a queue. */
export const SNS_RANGES = {
  message_life: QUEUE_RANGES.message_retention_period,
} as const satisfies Readonly<Record<string, SettingRange>>;

/** The range of a redrive policy's number (spec sqs 6.1). */
export const REDRIVE_RANGES = {
  max_receive_count: { min: 1, max: RECEIVE_COUNT_MAX, unit: "receives", decimals: false },
} as const satisfies Readonly<Record<string, SettingRange>>;

/** The ranges of an HTTP endpoint's settings. */
export const PUSH_RANGES = {
  max_concurrency: {
    min: HTTP_CONCURRENCY_MIN,
    max: HTTP_CONCURRENCY_MAX,
    unit: "requests",
    decimals: false,
  },
  connect_timeout: {
    min: CONNECT_TIMEOUT_SECONDS_MIN,
    max: CONNECT_TIMEOUT_SECONDS_MAX,
    unit: "seconds",
    decimals: false,
  },
  response_timeout: {
    min: RESPONSE_TIMEOUT_SECONDS_MIN,
    max: RESPONSE_TIMEOUT_SECONDS_MAX,
    unit: "seconds",
    decimals: false,
  },
  max_retries: CONSUMER_RANGES.max_retries,
  retry_delay: DELAY,
  cron_catch_up_window: { min: 1, max: CATCH_UP_MS_MAX / 1_000, unit: "seconds", decimals: false },
} as const satisfies Readonly<Record<string, SettingRange>>;

/**
 * Reports every number of a table that is outside its range and returns whether none is. Absent keys and other types
 * are not its business.
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
    const keyPlace = placeOf(place, key);
    const kind = range.decimals ? "number" : "whole number";
    report.error(
      keyPlace,
      `The field "${keyPlace.field}" should be a ${kind} of ${range.unit} from ${range.min} to ` +
        `${range.max} but got ${value}.`,
    );
  }
  return isInRange;
}

function isWithin(value: number, range: SettingRange): boolean {
  return value >= range.min && value <= range.max && (range.decimals || Number.isInteger(value));
}

/** For a name in one of Cloudflare's own tables. */
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

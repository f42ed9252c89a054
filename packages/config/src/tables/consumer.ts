import {
  BATCH_SIZE_DEFAULT,
  BATCH_TIMEOUT_SECONDS_DEFAULT,
  type ConsumerSettings,
  PULL_BATCH_SIZE_DEFAULT,
  type PullConsumerSettings,
  RETRIES_DEFAULT,
  VISIBILITY_TIMEOUT_MS_DEFAULT,
} from "@sluice/protocol";
import { type Place, placeOf, type Report } from "../file/report.ts";
import type { Table } from "../file/table.ts";
import { CONSUMER_RANGES, checkQueueName, checkRanges } from "./limits.ts";
import { isOptional, isTableOrArray, warnOfUnknownKeys } from "./wrangler-checks.ts";

/** Consumer of a queue: the Worker itself, or clients that pull over HTTP. */
export type ConsumerConfig =
  | { readonly queue: string; readonly type: "worker"; readonly settings: ConsumerSettings }
  | { readonly queue: string; readonly type: "http_pull"; readonly settings: PullConsumerSettings };

/** An element of `queues.consumers` that has passed `checkConsumer`. */
export interface RawConsumer extends Table {
  readonly queue: string;
  readonly type?: "worker" | "http_pull";
  readonly max_batch_size?: number;
  readonly max_batch_timeout?: number;
  readonly max_retries?: number;
  readonly dead_letter_queue?: string;
  readonly max_concurrency?: number;
  readonly visibility_timeout_ms?: number;
  readonly retry_delay?: number;
}

/** Optional keys and their types, in the order of Wrangler's errors. */
const OPTIONAL_KEYS = [
  ["type", "string"],
  ["max_batch_size", "number"],
  ["max_batch_timeout", "number"],
  ["max_retries", "number"],
  ["dead_letter_queue", "string"],
  ["max_concurrency", "number"],
  ["visibility_timeout_ms", "number"],
  ["retry_delay", "number"],
] as const;
/** Keys that affect only the batches of Workers, not those that are pulled. */
const WORKER_KEYS = ["max_batch_timeout", "max_concurrency"];
const KNOWN_KEYS = ["queue", ...OPTIONAL_KEYS.map(([key]) => key)];

/**
 * Checks a consumer, and reports the errors and warnings of Wrangler in its words (spec cloudflare-queues 3.3). One
 * difference: the type `http_pull` is accepted, which Cloudflare documents and older versions of Wrangler accept.
 */
export function checkConsumer(value: unknown, place: Place, report: Report): value is RawConsumer {
  if (!isTableOrArray(value)) {
    report.error(place, `"${place.field}" should be a objects, but got ${JSON.stringify(value)}`);
    return false;
  }
  warnOfUnknownKeys(value, KNOWN_KEYS, place, report);
  let isValid = true;
  const refuse = (key: string, text: string) => {
    report.error(placeOf(place, key), text);
    isValid = false;
  };
  const shown = JSON.stringify(value);
  if (typeof value.queue !== "string") {
    refuse("queue", `"${place.field}" should have a string "queue" field but got ${shown}.`);
  }
  if ("type" in value && value.type !== "worker" && value.type !== "http_pull") {
    refuse(
      "type",
      `"${place.field}.type" has an invalid value "${shownBare(value.type)}". Only "worker" and ` +
        `"http_pull" consumers can be configured in your Wrangler configuration.`,
    );
  }
  for (const [key, type] of OPTIONAL_KEYS) {
    if (isOptional(value, key, type)) continue;
    refuse(key, `"${place.field}" should, optionally, have a ${type} "${key}" field but got ${shown}.`);
  }
  return isValid;
}

/**
 * Reads a consumer with production's defaults: batches of 10, 5 s, 3 retries, no retry delay, concurrency left to the
 * broker, no dead-letter queue. Wrangler's local defaults differ: 5, 1 s and 2 (spec cloudflare-queues 3.1, 8.1). The
 * defaults of `http_pull` are 5 messages for a pull, leased for 30 s (spec cloudflare-queues 0, 5.2). Names and numbers
 * that production refuses at deploy are reported.
 */
export function readConsumer(raw: RawConsumer, place: Place, report: Report): ConsumerConfig {
  checkQueueName(raw.queue, placeOf(place, "queue"), report);
  if (raw.dead_letter_queue !== undefined) {
    checkQueueName(raw.dead_letter_queue, placeOf(place, "dead_letter_queue"), report);
  }
  checkRanges(raw, place, CONSUMER_RANGES, report);
  const { queue } = raw;
  const shared = {
    maxRetries: raw.max_retries ?? RETRIES_DEFAULT,
    retryDelaySeconds: raw.retry_delay ?? 0,
    deadLetterQueue: raw.dead_letter_queue ?? null,
  };
  if (raw.type === "http_pull") {
    for (const key of WORKER_KEYS.filter((candidate) => candidate in raw)) {
      report.warning(placeOf(place, key), `"${key}" has no effect on a consumer of the type "http_pull".`);
    }
    const maxBatchSize = raw.max_batch_size ?? PULL_BATCH_SIZE_DEFAULT;
    const visibilityTimeoutMs = raw.visibility_timeout_ms ?? VISIBILITY_TIMEOUT_MS_DEFAULT;
    return { queue, type: "http_pull", settings: { ...shared, maxBatchSize, visibilityTimeoutMs } };
  }
  return {
    queue,
    type: "worker",
    settings: {
      ...shared,
      maxBatchSize: raw.max_batch_size ?? BATCH_SIZE_DEFAULT,
      maxBatchTimeoutSeconds: raw.max_batch_timeout ?? BATCH_TIMEOUT_SECONDS_DEFAULT,
      maxConcurrency: raw.max_concurrency ?? null,
    },
  };
}

/** Formats a value as a template literal does, and objects as JSON: those of the parsers have no `toString`. */
function shownBare(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

import * as z from "zod/mini";
import {
  BATCH_SIZE_MAX,
  BATCH_SIZE_MIN,
  BATCH_TIMEOUT_SECONDS_MAX,
  CONCURRENCY_MAX,
  CONCURRENCY_MIN,
  CONNECT_TIMEOUT_SECONDS_MAX,
  CONNECT_TIMEOUT_SECONDS_MIN,
  HEADER_NAME_PATTERN,
  HEADER_VALUE_PATTERN,
  HTTP_CONCURRENCY_MAX,
  HTTP_CONCURRENCY_MIN,
  isReservedHeader,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
  VARIABLE_NAME_PATTERN,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "../limits.ts";
import { HTTP_PUSH_FORMATS } from "../topology/topology.ts";
import { sharedByConsumers, textLike, visibilityTimeoutMs, whole } from "./base.ts";

/** Longest wait of a worker daemon for an answer, in seconds (spec sqsd 2, `InactivityTimeout`). */
const DAEMON_RESPONSE_SECONDS_MAX = 36_000;
/** Longest time after which a periodic task is made up for, in seconds. */
const CATCH_UP_SECONDS_MAX = 604_800;
/** Longest name of a Worker, in characters. */
const WORKER_NAME_LENGTH_MAX = 255;

const batchSize = whole(BATCH_SIZE_MIN, BATCH_SIZE_MAX);

const worker = z.strictObject({
  type: z.literal("worker"),
  worker: z.string().check(z.minLength(1), z.maxLength(WORKER_NAME_LENGTH_MAX)),
  settings: z.strictObject({
    ...sharedByConsumers,
    maxBatchSize: batchSize,
    // The API takes it in milliseconds.
    maxBatchTimeoutSeconds: z.number().check(z.gte(0), z.lte(BATCH_TIMEOUT_SECONDS_MAX)),
    maxConcurrency: z.nullable(whole(CONCURRENCY_MIN, CONCURRENCY_MAX)),
  }),
});

const pull = z.strictObject({
  type: z.literal("http_pull"),
  settings: z.strictObject({ ...sharedByConsumers, maxBatchSize: batchSize, visibilityTimeoutMs }),
});

const headerValue = textLike(HEADER_VALUE_PATTERN, "must be a text that a header can have");
const headers = z
  .record(textLike(HEADER_NAME_PATTERN, "must be the name of a header"), headerValue)
  .check(({ value, issues }) => {
    const message = "is a header that the broker or its connection sets";
    const reserved = Object.keys(value).filter(isReservedHeader);
    issues.push(
      ...reserved.map((name) => ({ code: "custom" as const, path: [name], message, input: value })),
    );
  });
const path = textLike(/^\//, 'must begin with "/"');
const daemonSeconds = whole(0, VISIBILITY_TIMEOUT_MS_MAX / 1_000);

const daemon = z.strictObject({
  visibilityTimeoutSeconds: daemonSeconds,
  errorVisibilityTimeoutSeconds: z.nullable(daemonSeconds),
  retentionSeconds: whole(RETENTION_SECONDS_MIN, RETENTION_SECONDS_MAX),
  periodicTasks: z.optional(
    z.array(
      z.strictObject({
        name: z.string().check(z.minLength(1)),
        url: z.string().check(z.minLength(1)),
        schedule: z.string(),
        days: z.optional(z.enum(["or", "and"])),
      }),
    ),
  ),
  taskRuns: z.optional(
    z.strictObject({
      catchUp: z.optional(z.enum(["one", "all", "none"])),
      catchUpSeconds: z.optional(whole(1, CATCH_UP_SECONDS_MAX)),
      overlap: z.optional(z.enum(["allow", "skip"])),
    }),
  ),
  trustsTaskAttributes: z.optional(z.boolean()),
});

const push = z.strictObject({
  type: z.literal("http_push"),
  settings: z.strictObject({
    ...sharedByConsumers,
    url: z
      .string()
      .check(z.refine(isEndpointUrl, "must be an http: or https: URL without a user and password in it")),
    format: z.enum(HTTP_PUSH_FORMATS),
    contentType: z.nullable(headerValue),
    headers: z.optional(headers),
    credentials: z.optional(z.strictObject({ username: z.string(), password: z.string() })),
    signingSecret: z.optional(textLike(VARIABLE_NAME_PATTERN, "must be the name of an environment variable")),
    maxConcurrency: whole(HTTP_CONCURRENCY_MIN, HTTP_CONCURRENCY_MAX),
    connectTimeoutSeconds: whole(CONNECT_TIMEOUT_SECONDS_MIN, CONNECT_TIMEOUT_SECONDS_MAX),
    responseTimeoutSeconds: whole(1, DAEMON_RESPONSE_SECONDS_MAX),
    clientErrors: z.optional(z.enum(["deadLetter", "retry", "delivered"])),
    readinessPath: z.nullable(path),
    daemon: z.optional(daemon),
  }),
});

const destinations = z.array(z.string().check(z.minLength(1)));
const notification = z.strictObject({
  type: z.literal("notification"),
  settings: z.strictObject({
    ...sharedByConsumers,
    email: destinations,
    pagerduty: destinations,
    webhooks: destinations,
    maxConcurrency: z.nullable(whole(CONCURRENCY_MIN, CONCURRENCY_MAX)),
  }),
});

/** A consumer of any type. */
export const consumerSchema = z.discriminatedUnion("type", [worker, pull, push, notification]);

function isEndpointUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
  return url.username === "" && url.password === "";
}

import * as z from "zod/mini";
import {
  FINISHED_MESSAGES_MAX,
  HISTORY_SECONDS_MAX,
  HISTORY_SECONDS_MIN,
  RECEIVE_COUNT_MAX,
  RECEIVE_WAIT_MS_MAX,
  RECEIVES_PER_SECOND_MAX,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
} from "../limits.ts";
import { JURISDICTIONS } from "../rpc/directory/directory.ts";
import { SHARDS_MAX } from "../shards/shard-map.ts";
import { delaySeconds, queueName, visibilityTimeoutMs, whole } from "./base.ts";
import { consumerSchema } from "./consumer.ts";

const settings = {
  deliveryDelaySeconds: delaySeconds,
  messageRetentionSeconds: whole(RETENTION_SECONDS_MIN, RETENTION_SECONDS_MAX),
  maxReceivesPerSecond: z.optional(whole(1, RECEIVES_PER_SECOND_MAX)),
  deliveryPaused: z.optional(z.boolean()),
  fifo: z.optional(
    z.strictObject({
      deduplicationScope: z.optional(z.enum(["queue", "messageGroup"])),
      contentBasedDeduplication: z.optional(z.boolean()),
    }),
  ),
  historySeconds: z.optional(
    z
      .number()
      .check(
        z.refine(
          (value) => value === 0 || (value >= HISTORY_SECONDS_MIN && value <= HISTORY_SECONDS_MAX),
          `must be 0, or from ${HISTORY_SECONDS_MIN} to ${HISTORY_SECONDS_MAX}`,
        ),
      ),
  ),
  logs: z.optional(z.boolean()),
  finishedMessages: z.optional(whole(0, FINISHED_MESSAGES_MAX)),
  alertsSilentUntilMs: z.optional(z.number()),
  shards: z.optional(whole(1, SHARDS_MAX)),
  receive: z.optional(
    z.strictObject({
      visibilityTimeoutMs: z.optional(visibilityTimeoutMs),
      waitMs: z.optional(whole(0, RECEIVE_WAIT_MS_MAX)),
      redrive: z.nullish(
        z.strictObject({ deadLetterQueue: queueName, maxReceiveCount: whole(1, RECEIVE_COUNT_MAX) }),
      ),
    }),
  ),
};

export const jurisdictionSchema = z.nullable(z.enum(JURISDICTIONS));
export const dialectsSchema = z.record(z.string(), z.unknown());
/** Schema of the settings of a queue, without its consumer and its producers. */
export const queueSettingsSchema = z.strictObject(settings);
/** Everything that a queue is set to. */
export const queueDefinitionSchema = z.strictObject({
  ...settings,
  consumer: z.nullable(consumerSchema),
  producers: z.array(z.strictObject({ worker: z.string(), binding: z.string() })),
});

/** Schema of a map of shards. */
export const shardMapSchema = z.strictObject({
  epoch: z.number(),
  open: z.number(),
  kept: z.number(),
  before: z.optional(z.number()),
});

const recordSchema = z.strictObject({
  queueId: z.string(),
  name: z.string(),
  createdOnMs: z.number(),
  modifiedOnMs: z.number(),
  revision: z.number(),
  emptyAsOf: z.number(),
  definition: queueDefinitionSchema,
  consumer: z.nullable(z.strictObject({ consumerId: z.string(), createdOnMs: z.number() })),
  jurisdiction: jurisdictionSchema,
  place: z.optional(z.enum(JURISDICTIONS)),
  shards: z.optional(shardMapSchema),
  queueRevision: z.optional(z.number()),
  // A later release may count more.
  goneUsage: z.optional(z.object({ month: z.string(), sinceMs: z.number() })),
  dialects: dialectsSchema,
});

/** Kinds of issues that make a value unreadable. A number out of its range and an unknown key do not. */
const UNREADABLE: ReadonlySet<string> = new Set(["invalid_type", "invalid_union", "invalid_value"]);

/**
 * Describes for people why a stored record of a queue cannot be read; `null` if it can. A record that is only beyond a
 * limit of this version can be read: another version may have stored it.
 */
export function unreadableRecord(value: unknown): string | null {
  return unreadable(recordSchema, value);
}

/** Describes why a stored definition of a queue cannot be read; `null` if it can. */
export function unreadableDefinition(value: unknown): string | null {
  return unreadable(queueDefinitionSchema, value);
}

/** Describes why a value cannot be read by a schema; `null` if it can. */
export function unreadable(schema: z.ZodMiniType, value: unknown): string | null {
  const issue = schema.safeParse(value).error?.issues.find(({ code }) => UNREADABLE.has(code));
  return issue === undefined ? null : issueText(issue);
}

/** An issue with the key that it is about: `consumer.type: must be …`. */
export function issueText(issue: z.core.$ZodIssue): string {
  return [issue.path.join("."), wordsOf(issue)].filter((part) => part !== "").join(": ");
}

/** An issue in plain words, to follow the key that it is about. */
function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      // So the library calls a missing key whose value may be anything.
      if (issue.expected === "nonoptional") return "is missing";
      return `must be ${TYPES[issue.expected] ?? `of the type ${issue.expected}`}`;
    case "too_big":
      return `must be at most ${issue.maximum}${isMeasured(issue.origin) ? "" : " long"}`;
    case "too_small":
      return `must be at least ${issue.minimum}${isMeasured(issue.origin) ? "" : " long"}`;
    case "invalid_value":
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "unrecognized_keys":
      return `has no ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
    default:
      return issue.message;
  }
}

/** Whether a limit is one of a value, and not one of a length. */
function isMeasured(origin: string): boolean {
  return origin === "number" || origin === "int" || origin === "bigint" || origin === "date";
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

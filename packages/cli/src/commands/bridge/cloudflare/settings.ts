import type { BackupQueue } from "@sluice/gateway/views";
import { concurrency } from "@sluice/local/report/topology-table";
import {
  BATCH_SIZE_DEFAULT,
  BATCH_TIMEOUT_SECONDS_DEFAULT,
  type ConsumerDefinition,
  PULL_BATCH_SIZE_DEFAULT,
  RETENTION_SECONDS_DEFAULT,
  RETRIES_DEFAULT,
  VISIBILITY_TIMEOUT_MS_DEFAULT,
} from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import type { Line } from "../message.ts";
import { secondsText } from "../words.ts";
import { workerOf } from "./lent-consumer.ts";
import type { CloudflareConsumer, CloudflareQueue, NewConsumer } from "./queues-api.ts";

type Consumer = CloudflareConsumer | NewConsumer;

/** Makes the settings of a queue of Sluice from those of a queue of Cloudflare. */
export function queueOf(
  { queue_name: name, settings }: CloudflareQueue,
  consumer: Consumer | null,
): BackupQueue {
  return {
    name,
    settings: {
      deliveryDelaySeconds: settings?.delivery_delay ?? 0,
      messageRetentionSeconds: settings?.message_retention_period ?? RETENTION_SECONDS_DEFAULT,
    },
    consumer: consumer === null ? null : definitionOf(consumer),
    jurisdiction: null,
    dialects: {},
  };
}

function definitionOf(consumer: Consumer): ConsumerDefinition {
  const { type, settings = {}, dead_letter_queue: dead } = consumer;
  const common = {
    maxRetries: settings.max_retries ?? RETRIES_DEFAULT,
    retryDelaySeconds: settings.retry_delay ?? 0,
    deadLetterQueue: dead || null,
  };
  if (type === "http_pull") {
    return {
      type,
      settings: {
        ...common,
        maxBatchSize: settings.batch_size ?? PULL_BATCH_SIZE_DEFAULT,
        visibilityTimeoutMs: settings.visibility_timeout_ms ?? VISIBILITY_TIMEOUT_MS_DEFAULT,
      },
    };
  }
  const waitMs = settings.max_wait_time_ms ?? 1_000 * BATCH_TIMEOUT_SECONDS_DEFAULT;
  return {
    type: "worker",
    worker: workerOf({ consumer_id: "", ...consumer }),
    settings: {
      ...common,
      maxBatchSize: settings.batch_size ?? BATCH_SIZE_DEFAULT,
      maxBatchTimeoutSeconds: waitMs / 1_000,
      maxConcurrency: settings.max_concurrency ?? null,
    },
  };
}

/** Formats the settings of a queue without those of its consumer. */
export function settingLinesOf({ settings }: BackupQueue): Line[] {
  return [
    ["delivery delay", secondsText(settings.deliveryDelaySeconds ?? 0)],
    ["retention", secondsText(settings.messageRetentionSeconds ?? RETENTION_SECONDS_DEFAULT)],
  ];
}

/** Formats the settings of a queue and of its consumer. */
export function linesOf(queue: BackupQueue): Line[] {
  const lines = settingLinesOf(queue);
  const { consumer } = queue;
  if (consumer === null) return [...lines, ["consumer", "none"]];
  const { settings } = consumer;
  lines.push(["consumer", consumerText(consumer)]);
  if (consumer.type === "worker") {
    const { maxBatchSize, maxBatchTimeoutSeconds } = consumer.settings;
    lines.push(["batch", `${plural(maxBatchSize, "message")}, or ${maxBatchTimeoutSeconds} s`]);
    lines.push(["concurrency", concurrency(consumer) ?? ""]);
  } else if (consumer.type === "http_pull") {
    lines.push(["batch", plural(consumer.settings.maxBatchSize, "message")]);
    lines.push(["visibility", `${consumer.settings.visibilityTimeoutMs / 1_000} s`]);
  }
  if ("retryDelaySeconds" in settings) {
    lines.push(["retries", `${settings.maxRetries}, after ${settings.retryDelaySeconds} s`]);
    lines.push(["dead letters", settings.deadLetterQueue ?? "none"]);
  }
  return lines;
}

function consumerText(consumer: ConsumerDefinition): string {
  if (consumer.type === "worker") return `Worker ${consumer.worker}`;
  return consumer.type === "http_pull" ? "clients that pull" : "pushed over HTTP";
}

/** Formats the flags with which Wrangler adds a consumer with these settings. */
export function wranglerFlagsOf({ settings = {}, dead_letter_queue: dead }: Consumer): string {
  const { max_wait_time_ms: waitMs } = settings;
  const flags: [string, number | string | null | undefined][] = [
    ["batch-size", settings.batch_size],
    ["batch-timeout", waitMs === undefined || waitMs === null ? waitMs : waitMs / 1_000],
    ["message-retries", settings.max_retries],
    ["max-concurrency", settings.max_concurrency],
    ["retry-delay-secs", settings.retry_delay],
    ["dead-letter-queue", dead || null],
  ];
  return flags
    .map(([name, value]) => (value === undefined || value === null ? "" : ` --${name} ${value}`))
    .join("");
}

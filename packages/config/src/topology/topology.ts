import {
  type ConsumerDefinition,
  type HttpPushSettings,
  isFifoName,
  type ProducerDefinition,
  type QueueDefinition,
  type QueueTopology,
  RETENTION_SECONDS_DEFAULT,
  type ReceiveSettings,
} from "@sluice/protocol";
import { type RetryPolicy, retriesOf } from "@sluice/retry";
import { type ConfigDiagnostic, ConfigError, errorAt, formatPlace } from "../file/diagnostics.ts";
import { recordOf } from "../file/table.ts";
import type { ConsumerConfig } from "../tables/consumer.ts";
import type { QueueSettings } from "../tables/sluice-table.ts";
import type { WorkerQueueConfig } from "../tables/worker-config.ts";
import { deadLetterCycles } from "./dead-letter-cycles.ts";
import { mergeAlerts, mergeQueueSettings, mergeR2Notifications, mergeSnsSettings } from "./merge-settings.ts";
import { reportShards } from "./report-shards.ts";
import { namedQueues } from "./unnamed-queues.ts";

/**
 * Merges the configurations of all Workers into the queues that exist. A queue exists when anything names it: a
 * producer, a consumer, a `[sluice.queues]` table, a rule of an R2 bucket, or a queue that sends its dead letters
 * there. The result does not depend on the order of the Workers: queues are sorted by name, producers by Worker and
 * binding.
 *
 * A producer's own `delivery_delay` is not in here: it belongs to the binding and is applied there.
 *
 * @throws ConfigError when two Workers have the same name, a queue has two consumers, dead letters go in a circle, two
 *   rules of an R2 bucket overlap, a queue can have no shards, or two files set a queue, or SNS, differently (spec
 *   cloudflare-queues 4, 8.1).
 */
export function buildTopology(workers: readonly WorkerQueueConfig[]): QueueTopology {
  const diagnostics: ConfigDiagnostic[] = [];
  const distinct = distinctWorkers(workers, diagnostics);
  const settings = mergeQueueSettings(distinct, diagnostics);
  const sns = mergeSnsSettings(distinct, diagnostics);
  const r2Notifications = mergeR2Notifications(distinct, diagnostics);
  const alerts = mergeAlerts(distinct, diagnostics);
  const consumers = mergeConsumers(distinct, diagnostics);
  reportCycles(consumers, distinct, diagnostics);
  reportShards(settings, distinct, diagnostics);
  if (diagnostics.length > 0) throw new ConfigError(diagnostics);

  const queues = [...queueNames(distinct)]
    .sort()
    .map((name): [string, QueueDefinition] => [
      name,
      {
        deliveryDelaySeconds: settings.get(name)?.deliveryDelaySeconds ?? 0,
        messageRetentionSeconds: settings.get(name)?.messageRetentionSeconds ?? RETENTION_SECONDS_DEFAULT,
        producers: producersOf(name, distinct),
        consumer: withPolicy(consumers.get(name)?.definition, settings.get(name)?.retryPolicy),
        ...throttleOf(settings.get(name)),
        ...historyOf(settings.get(name)),
        ...receiveOf(settings.get(name)),
        ...fifoOf(name, settings.get(name)),
        ...shardsOf(settings.get(name)),
      },
    ]);
  return {
    queues: recordOf(queues),
    ...(sns === undefined ? {} : { sns }),
    ...(r2Notifications.length === 0 ? {} : { r2Notifications }),
    ...(alerts === undefined ? {} : { alerts }),
  };
}

function throttleOf(settings: QueueSettings | undefined): Pick<QueueDefinition, "maxReceivesPerSecond"> {
  const { maxReceivesPerSecond } = settings ?? {};
  return maxReceivesPerSecond === undefined ? {} : { maxReceivesPerSecond };
}

function shardsOf(settings: QueueSettings | undefined): Pick<QueueDefinition, "shards"> {
  const { shards } = settings ?? {};
  return shards === undefined ? {} : { shards };
}

function historyOf(
  settings: QueueSettings | undefined,
): Pick<QueueDefinition, "historySeconds" | "logs" | "finishedMessages" | "alertsSilentUntilMs"> {
  const { historySeconds, logs, finishedMessages, alertsSilentUntilMs } = settings ?? {};
  return {
    ...(historySeconds === undefined ? {} : { historySeconds }),
    ...(logs === undefined ? {} : { logs }),
    ...(finishedMessages === undefined ? {} : { finishedMessages }),
    ...(alertsSilentUntilMs === undefined ? {} : { alertsSilentUntilMs }),
  };
}

/** Makes the settings of a queue for clients that receive; an empty object where none of them is set. */
function receiveOf(settings: QueueSettings | undefined): Pick<QueueDefinition, "receive"> {
  const { visibilityTimeoutSeconds: visibility, receiveWaitTimeSeconds: wait, redrive } = settings ?? {};
  const receive: ReceiveSettings = {
    ...(visibility === undefined ? {} : { visibilityTimeoutMs: 1_000 * visibility }),
    ...(wait === undefined ? {} : { waitMs: 1_000 * wait }),
    ...(redrive === undefined ? {} : { redrive }),
  };
  return Object.keys(receive).length === 0 ? {} : { receive };
}

function fifoOf(queue: string, settings: QueueSettings | undefined): Pick<QueueDefinition, "fifo"> {
  if (!isFifoName(queue)) return {};
  const { contentBasedDeduplication, deduplicationScope } = settings ?? {};
  return {
    fifo: {
      ...(contentBasedDeduplication === undefined ? {} : { contentBasedDeduplication }),
      ...(deduplicationScope === undefined ? {} : { deduplicationScope }),
    },
  };
}

/** Adds the queue's retry policy to its consumer. A number of retries in the policy counts instead of `max_retries`. */
function withPolicy(
  consumer: ConsumerDefinition | undefined,
  retryPolicy: RetryPolicy | undefined,
): ConsumerDefinition | null {
  if (consumer === undefined) return null;
  if (retryPolicy === undefined) return consumer;
  const policy = { maxRetries: retriesOf(retryPolicy) ?? consumer.settings.maxRetries, retryPolicy };
  switch (consumer.type) {
    case "worker":
      return { ...consumer, settings: { ...consumer.settings, ...policy } };
    case "http_pull":
      return { ...consumer, settings: { ...consumer.settings, ...policy } };
    case "http_push":
      return { ...consumer, settings: { ...consumer.settings, ...policy } };
    case "notification":
      return consumer;
  }
}

/** Drops Workers that are listed twice, and reports two Workers of one name: their messages could not be told apart. */
function distinctWorkers(
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): WorkerQueueConfig[] {
  const byName = new Map<string, WorkerQueueConfig>();
  for (const worker of workers) {
    const namesake = byName.get(worker.workerName);
    if (namesake === undefined) {
      byName.set(worker.workerName, worker);
    } else if (namesake.file !== worker.file || namesake.env !== worker.env) {
      const places = `${origin(namesake)} and ${origin(worker)}`;
      diagnostics.push(
        errorAt(worker.file, undefined, `Two Workers are called "${worker.workerName}": ${places}.`),
      );
    }
  }
  return [...byName.values()];
}

function origin({ file, env }: WorkerQueueConfig): string {
  return env === null ? file : `${file} with environment "${env}"`;
}

interface PlacedConsumer {
  readonly definition: ConsumerDefinition;
  /** Worker whose file names it, for error texts. */
  readonly name: string;
  readonly file: string;
  readonly line: number | undefined;
}

function mergeConsumers(
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): Map<string, PlacedConsumer> {
  const consumers = new Map<string, PlacedConsumer>();
  const add = (queue: string, consumer: PlacedConsumer) => {
    const first = consumers.get(queue);
    if (first === undefined) {
      consumers.set(queue, consumer);
      return;
    }
    const { file, line } = consumer;
    const places = `${formatPlace(first.file, first.line)} and ${formatPlace(file, line)}`;
    const isListedTwice = first.file === file && first.name === consumer.name;
    const names = isListedTwice ? `${first.name} lists it twice` : `${first.name} and ${consumer.name}`;
    diagnostics.push(
      errorAt(file, line, `Multiple consumers defined for queue "${queue}": ${names} (${places})`),
    );
  };
  for (const { workerName, file, lines, consumers: ofWorker } of workers) {
    for (const [i, consumer] of ofWorker.entries()) {
      const definition = definitionOf(consumer, workerName);
      add(consumer.queue, { definition, name: `"${workerName}"`, file, line: lines?.consumers[i] });
    }
  }
  const endpoints = new Map<string, HttpPushSettings>();
  for (const { file: own, settingsFile: file = own, lines, queueSettings } of workers) {
    for (const [queue, { push }] of Object.entries(queueSettings)) {
      // Files may set a queue alike; differences have been reported.
      if (push === undefined || endpoints.has(queue)) continue;
      endpoints.set(queue, push);
      const line = lines?.queueSettings[queue];
      add(queue, { definition: { type: "http_push", settings: push }, name: "its [push] table", file, line });
    }
  }
  return consumers;
}

function definitionOf(consumer: ConsumerConfig, worker: string): ConsumerDefinition {
  return consumer.type === "worker"
    ? { type: "worker", worker, settings: consumer.settings }
    : { type: "http_pull", settings: consumer.settings };
}

/** Dead-letter queue of a queue, and the place that names it. A redrive policy overrides the consumer's. */
interface DeadLetters {
  readonly to: string;
  readonly file: string;
  readonly line: number | undefined;
}

function reportCycles(
  consumers: ReadonlyMap<string, PlacedConsumer>,
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): void {
  const deadLetters = new Map<string, DeadLetters>();
  for (const [queue, { definition, file, line }] of consumers) {
    const to = definition.settings.deadLetterQueue;
    if (to !== null) deadLetters.set(queue, { to, file, line });
  }
  for (const { file: own, settingsFile: file = own, lines, queueSettings } of workers) {
    for (const [queue, { redrive }] of Object.entries(queueSettings)) {
      if (redrive === undefined) continue;
      deadLetters.set(queue, { to: redrive.deadLetterQueue, file, line: lines?.queueSettings[queue] });
    }
  }
  for (const cycle of deadLetterCycles(deadLetters.keys(), (queue) => deadLetters.get(queue)?.to)) {
    const [queue = ""] = cycle;
    const place = deadLetters.get(queue);
    if (place === undefined) continue;
    const text =
      cycle.length === 1
        ? `Dead letter queue for queue "${queue}" cannot be itself`
        : `Dead letters go in a circle: ${[...cycle, queue].map((name) => `"${name}"`).join(" -> ")}`;
    diagnostics.push(errorAt(place.file, place.line, text));
  }
}

function queueNames(workers: readonly WorkerQueueConfig[]): Set<string> {
  const withSettings = workers.flatMap(({ queueSettings }) => Object.keys(queueSettings));
  return new Set([...namedQueues(workers), ...withSettings]);
}

function producersOf(queue: string, workers: readonly WorkerQueueConfig[]): ProducerDefinition[] {
  return workers
    .flatMap(({ workerName, producers }) =>
      producers
        .filter((producer) => producer.queue === queue)
        .map(({ binding }) => ({ worker: workerName, binding })),
    )
    .sort((a, b) => compare(a.worker, b.worker) || compare(a.binding, b.binding));
}

/** Compares by code units, so that the same files give the same topology in every locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

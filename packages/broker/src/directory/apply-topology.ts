import {
  ALERTS_QUEUE,
  type ConsumerDefinition,
  canonicalJson,
  type Jurisdiction,
  type QueueDefinition,
  type QueueRecord,
  type QueueTopology,
  queuesOf,
} from "@sluice/protocol";
import { deadLetterCycle } from "./consumers.ts";
import { changed, deleteQueue, UNSET_DEFINITION } from "./queues.ts";
import { newRecord } from "./records.ts";
import type { Registry } from "./registry.ts";
import type { QueueRow } from "./row.ts";
import { putQueue, shardsRefusal } from "./shards.ts";

/** Own settings of a queue, for which a configuration may leave the defaults. */
type Settings = Omit<QueueDefinition, "producers" | "consumer">;

/**
 * Merges a deployed topology into the directory, so that the most recent change applies. The directory remembers the
 * last configuration. A setting that differs from it is a new change; one that is equal leaves later changes over an
 * API. Queues are created and never deleted.
 *
 * @param warn Takes a line about a result that the developer may not expect.
 */
export function applyTopology(
  registry: Registry,
  topology: QueueTopology,
  warn: (line: string) => void = () => {},
): void {
  const queues = queuesOf(topology);
  const alerts = registry.queue(ALERTS_QUEUE);
  // Without the configuration's settings its webhook cannot be called.
  if (topology.alerts === undefined && alerts !== undefined) deleteQueue(registry, alerts.record.queueId);
  for (const [name, configured] of Object.entries(queues)) {
    const row = registry.queue(name);
    if (row === undefined) {
      const jurisdiction = jurisdictionFor(registry, topology, name);
      const record = newRecord(registry, name, configured, jurisdiction === null ? {} : { jurisdiction });
      putQueue(registry, { kind: "queue", record, configured, told: 0 });
    } else {
      merge(registry, row, configured, warn);
    }
  }
  for (const row of [...registry.queues()]) {
    const { name } = row.record;
    if (row.configured !== null && !Object.hasOwn(queues, name)) merge(registry, row, null, warn);
  }
  for (const { record } of registry.queues()) {
    const target = record.definition.consumer?.settings.deadLetterQueue ?? null;
    const cycle = target === null ? null : deadLetterCycle(registry, record.name, target);
    if (cycle !== null) warn(`dead letters go in a circle: ${[...cycle, record.name].join(" -> ")}`);
    const deadLetters = target === null ? undefined : registry.queue(target)?.record;
    if (deadLetters === undefined || deadLetters.jurisdiction === record.jurisdiction) continue;
    warn(
      `dead letters of queue "${record.name}" wait in it: its jurisdiction is ${record.jurisdiction ?? "none"}, ` +
        `that of queue "${target}" is ${deadLetters.jurisdiction ?? "none"}`,
    );
  }
}

/** Returns the jurisdiction of a new queue: no file names one, but dead letters stay in that of their queue. */
function jurisdictionFor(registry: Registry, topology: QueueTopology, name: string): Jurisdiction | null {
  const passed = new Set<string>();
  const sources = [name];
  for (let queue = sources.pop(); queue !== undefined; queue = sources.pop()) {
    const known = registry.queue(queue)?.record.jurisdiction;
    if (known != null) return known;
    passed.add(queue);
    for (const [source, { consumer }] of Object.entries(topology.queues)) {
      if (consumer?.settings.deadLetterQueue === queue && !passed.has(source)) sources.push(source);
    }
  }
  return null;
}

function merge(
  registry: Registry,
  row: QueueRow,
  configured: QueueDefinition | null,
  warn: (line: string) => void,
): void {
  const { name, definition: current } = row.record;
  const before = row.configured ?? UNSET_DEFINITION;
  const now = configured ?? UNSET_DEFINITION;
  const consumer = mergedConsumer(current.consumer, before.consumer, now.consumer);
  const settings = withoutNewScope(
    row.record,
    mergedSettings(settingsOf(current), settingsOf(before), settingsOf(now)),
    warn,
  );
  const definition = withPossibleShards(name, { ...settings, producers: now.producers, consumer }, warn);
  if (now.consumer === null && before.consumer !== null && current.consumer !== null && consumer === null) {
    warn(`queue "${name}": no configuration names its consumer any more; it is gone, messages wait`);
  }
  if (same(definition, current)) {
    if (!same(configured, row.configured)) registry.put({ ...row, configured });
    return;
  }
  changed(registry, { ...row, configured }, { definition, consumer: identityOf(registry, row, consumer) });
}

/** Applies the configuration's changes of the queue's own settings to the current ones. */
function mergedSettings(current: Settings, before: Settings, now: Settings): Settings {
  const result = merged({ ...current }, { ...before }, { ...now });
  for (const key of GROUPS) {
    // A group that the queue lacks is added or removed as a whole.
    if (current[key] === undefined || same(now[key], before[key])) continue;
    result[key] = merged({ ...current[key] }, { ...before[key] }, { ...now[key] });
  }
  // Every key comes from a `Settings`, and required keys are never deleted.
  return result as unknown as Settings;
}

/** Keeps the deduplication scope of a FIFO queue, which is fixed when the queue is created (spec sqs 4.3). */
function withoutNewScope(
  { name, definition }: QueueRecord,
  settings: Settings,
  warn: (line: string) => void,
): Settings {
  const before = definition.fifo;
  const scope = before?.deduplicationScope ?? "queue";
  if (before === undefined || (settings.fifo?.deduplicationScope ?? "queue") === scope) return settings;
  warn(`queue "${name}": its deduplication_scope stays "${scope}", it is fixed when a queue is created`);
  return { ...settings, fifo: { ...settings.fifo, deduplicationScope: scope } };
}

/** Leaves out a number of shards that only the rest of the configuration would allow. */
function withPossibleShards(
  name: string,
  definition: QueueDefinition,
  warn: (line: string) => void,
): QueueDefinition {
  const { shards, ...rest } = definition;
  const refusal = shardsRefusal(definition);
  if (refusal?.kind !== "shardsRefused") return definition;
  const why = {
    deduplicationScope: 'its deduplication_scope is not "messageGroup"',
    workerDaemon: "its consumer is a worker daemon",
  }[refusal.reason];
  warn(`queue "${name}": it gets 1 shard and not ${shards}, because ${why}`);
  return rest;
}

/** Groups of settings, each of which is changed by itself. */
const GROUPS = ["receive", "fifo"] as const satisfies readonly (keyof Settings)[];

type Values = Readonly<Record<string, unknown>>;

function merged(current: Values, before: Values, now: Values): Record<string, unknown> {
  const result: Record<string, unknown> = { ...current };
  for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const value = now[key];
    if (same(value, before[key])) continue;
    if (value === undefined) delete result[key];
    else result[key] = value;
  }
  return result;
}

/**
 * Merges the consumer of a configuration. A consumer that it no longer names goes if it is still the current one, since
 * it cannot be called any more. A consumer that an API has set since then stays.
 */
function mergedConsumer(
  current: ConsumerDefinition | null,
  before: ConsumerDefinition | null,
  now: ConsumerDefinition | null,
): ConsumerDefinition | null {
  if (same(now, before)) return current;
  if (now !== null) return now;
  return sameConsumer(current, before) ? null : current;
}

function identityOf(registry: Registry, { record }: QueueRow, consumer: ConsumerDefinition | null) {
  if (consumer === null) return null;
  if (record.consumer !== null && sameConsumer(record.definition.consumer, consumer)) return record.consumer;
  return { consumerId: registry.newId(), createdOnMs: registry.nowMs };
}

function sameConsumer(a: ConsumerDefinition | null, b: ConsumerDefinition | null): boolean {
  if (a?.type === "worker") return b?.type === "worker" && a.worker === b.worker;
  return a?.type === b?.type;
}

function settingsOf({ producers: _producers, consumer: _consumer, ...settings }: QueueDefinition): Settings {
  return settings;
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

import {
  type ConsumerDefinition,
  canonicalJson,
  type QueueDefinition,
  type QueueRecord,
  type QueueTopology,
} from "@sluice/protocol";
import { deadLetterCycle } from "./consumers.ts";
import { changed, newRecord, UNSET_DEFINITION } from "./queues.ts";
import type { Registry } from "./registry.ts";
import type { QueueRow } from "./row.ts";

/** The settings of a queue's own that a configuration can leave unsaid: then it says their defaults. */
type Settings = Omit<QueueDefinition, "producers" | "consumer">;

/**
 * Lets a deployed topology meet what the directory has: the most recent change applies. The directory remembers what
 * the configuration said last. Where it says something else now, that is a new change; where it says the same, what was
 * changed over an API since then stays. Queues are created and never deleted.
 *
 * @param warn Takes a line about what the developer may not expect.
 */
export function applyTopology(
  registry: Registry,
  topology: QueueTopology,
  warn: (line: string) => void = () => {},
): void {
  for (const [name, said] of Object.entries(topology.queues)) {
    const row = registry.queue(name);
    if (row === undefined) {
      const record = newRecord(registry, name, said);
      registry.put({ kind: "queue", record, configured: said, told: 0 });
    } else {
      meet(registry, row, said, warn);
    }
  }
  for (const row of [...registry.queues()]) {
    const { name } = row.record;
    if (row.configured !== null && !Object.hasOwn(topology.queues, name)) meet(registry, row, null, warn);
  }
  for (const { record } of registry.queues()) {
    const target = record.definition.consumer?.settings.deadLetterQueue ?? null;
    const cycle = target === null ? null : deadLetterCycle(registry, record.name, target);
    if (cycle !== null) warn(`dead letters go in a circle: ${[...cycle, record.name].join(" -> ")}`);
  }
}

function meet(
  registry: Registry,
  row: QueueRow,
  said: QueueDefinition | null,
  warn: (line: string) => void,
): void {
  const { name, definition: current } = row.record;
  const before = row.configured ?? UNSET_DEFINITION;
  const now = said ?? UNSET_DEFINITION;
  const consumer = meetingConsumer(current.consumer, before.consumer, now.consumer);
  const definition: QueueDefinition = {
    ...withoutNewScope(
      row.record,
      meetingSettings(settingsOf(current), settingsOf(before), settingsOf(now)),
      warn,
    ),
    producers: now.producers,
    consumer,
  };
  if (now.consumer === null && before.consumer !== null && current.consumer !== null && consumer === null) {
    warn(`queue "${name}": no configuration names its consumer any more; it is gone, messages wait`);
  }
  if (same(definition, current)) {
    if (!same(said, row.configured)) registry.put({ ...row, configured: said });
    return;
  }
  changed(
    registry,
    { ...row, configured: said },
    { definition, consumer: identityOf(registry, row, consumer) },
  );
}

/** Applies the configuration's changes of the queue's own settings to the current ones. */
function meetingSettings(current: Settings, before: Settings, now: Settings): Settings {
  const result = meeting({ ...current }, { ...before }, { ...now });
  for (const key of GROUPS) {
    // What was never there comes or goes as a whole.
    if (current[key] === undefined || same(now[key], before[key])) continue;
    result[key] = meeting({ ...current[key] }, { ...before[key] }, { ...now[key] });
  }
  // Every key comes from a `Settings`, and those that all of them have were never deleted.
  return result as unknown as Settings;
}

/**
 * How a FIFO queue tells duplicates is what it was when the queue was created (spec sqs 4.3): of what it has taken
 * since then it could not be told otherwise.
 */
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

/** Settings that are several, each of which is changed by itself. */
const GROUPS = ["receive", "fifo"] as const satisfies readonly (keyof Settings)[];

type Values = Readonly<Record<string, unknown>>;

function meeting(current: Values, before: Values, now: Values): Record<string, unknown> {
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
 * The consumer after a configuration was read. One that the configuration does not name any more is gone if it is still
 * that Worker: nobody can call it. A consumer that somebody put in its place since then stays.
 */
function meetingConsumer(
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

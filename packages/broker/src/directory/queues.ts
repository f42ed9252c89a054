import {
  type DirectoryRefusal,
  type DirectoryReply,
  deadLetterQueuesOf,
  isFifoName,
  isShard,
  type Jurisdiction,
  type NewQueue,
  QUEUES_MAX,
  type QueueChange,
  type QueueDefinition,
  type QueueRecord,
  RETENTION_SECONDS_DEFAULT,
} from "@sluice/protocol";
import { newRecord, placeFor } from "./records.ts";
import type { Registry } from "./registry.ts";
import { isNotified, type QueueRow } from "./row.ts";
import { deletedRow, putQueue, shardsRefusal, stepShards } from "./shards.ts";

/** Definition of a queue for which no settings are given. */
export const UNSET_DEFINITION: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
  producers: [],
  consumer: null,
};

/** Merges settings into the configured definition of a queue, or into the default one. */
export function definitionWith(
  configured: QueueDefinition | null,
  settings: NewQueue["settings"],
): QueueDefinition {
  const base = configured ?? UNSET_DEFINITION;
  const receive = { ...base.receive, ...settings?.receive };
  const fifo = { ...base.fifo, ...settings?.fifo };
  return {
    ...base,
    ...settings,
    ...((base.receive ?? settings?.receive) === undefined ? {} : { receive }),
    ...((base.fifo ?? settings?.fifo) === undefined ? {} : { fifo }),
  };
}

/**
 * Creates a queue with a free name. A deleted queue that the configuration names gets its configured definition again,
 * with the given settings.
 */
export function createQueue(registry: Registry, queue: Omit<NewQueue, "consumer">): DirectoryReply {
  const { name, jurisdiction = null } = queue;
  const before = registry.row(name);
  if (before?.kind === "queue") return refuse({ kind: "queueNameTaken", name });
  if (registry.size >= QUEUES_MAX) return refuse({ kind: "tooManyQueues" });
  // Another object than the new queue's still holds messages of the deleted one.
  const isHeldElsewhere =
    before !== undefined && !isNotified(before) && before.place !== placeFor(registry, jurisdiction);
  if (isHeldElsewhere) return refuse({ kind: "changedMeanwhile" });
  const source = registry.hasJurisdictions ? sourceOf(registry, name) : undefined;
  if (source !== undefined && source.jurisdiction !== jurisdiction)
    return refuse({ kind: "otherJurisdiction", queue: source.name, deadLetterQueue: name });
  const redrive = redriveRefusal(registry, { name, jurisdiction }, queue.settings);
  if (redrive !== null) return refuse(redrive);
  const configured = registry.configuredAs(name);
  const definition = definitionWith(configured, queue.settings);
  const refusal = shardsRefusal(definition);
  if (refusal !== null) return refuse(refusal);
  const record = newRecord(registry, name, definition, queue);
  putQueue(registry, { kind: "queue", record, configured, told: 0 });
  return { ok: true, record };
}

/** Changes a queue's own settings; its producers and its consumer stay. A change of an older record is refused. */
export function changeQueue(registry: Registry, queueId: string, change: QueueChange): DirectoryReply {
  const row = registry.queueById(queueId);
  if (row === undefined) return refuse({ kind: "queueNotFound" });
  const { definition, dialects, revision } = row.record;
  if (change.basedOn !== undefined && change.basedOn !== revision)
    return refuse({ kind: "changedMeanwhile" });
  const redrive = redriveRefusal(registry, row.record, change.settings);
  if (redrive !== null) return refuse(redrive);
  const changedDefinition = { ...definition, ...change.settings };
  const refusal = change.settings === undefined ? null : shardsRefusal(changedDefinition);
  if (refusal !== null) return refuse(refusal);
  const record = changed(registry, row, {
    definition: changedDefinition,
    dialects: { ...dialects, ...change.dialects },
  });
  return { ok: true, record };
}

/** Returns why dead letters for clients of SQS cannot go to the queue that settings name; `null` if they can. */
function redriveRefusal(
  registry: Registry,
  { name, jurisdiction }: Pick<QueueRecord, "name" | "jurisdiction">,
  settings: QueueChange["settings"],
): DirectoryRefusal | null {
  const deadLetterQueue = settings?.receive?.redrive?.deadLetterQueue;
  const target = deadLetterQueue === undefined ? undefined : registry.queue(deadLetterQueue)?.record;
  if (target === undefined || target.jurisdiction === jurisdiction) return null;
  return { kind: "otherJurisdiction", queue: name, deadLetterQueue: target.name };
}

/** Deletes a queue. A row stays until its object has emptied itself, so that no crash lets the messages come back. */
export function deleteQueue(registry: Registry, queueId: string): DirectoryReply {
  const row = registry.queueById(queueId);
  if (row === undefined) return refuse({ kind: "queueNotFound" });
  const { record } = row;
  registry.put(deletedRow(registry, record));
  stepShards(registry, record.name);
  return { ok: true, record };
}

/** Finds the queue of a name, or creates it, as naming a dead-letter queue does. */
export function ensureQueue(
  registry: Registry,
  name: string,
  jurisdiction: Jurisdiction | null,
): DirectoryReply {
  const row = registry.queue(name);
  if (row !== undefined) return { ok: true, record: row.record };
  // A shard is created by its queue alone.
  if (isShard(name)) return refuse({ kind: "queueNotFound" });
  return createQueue(registry, {
    name,
    ...(isFifoName(name) && registry.configuredAs(name) === null ? { settings: { fifo: {} } } : {}),
    ...(jurisdiction === null ? {} : { jurisdiction }),
  });
}

/** Stores a change of a record as its next revision. @returns the new record. */
export function changed(
  registry: Registry,
  row: QueueRow,
  change: Partial<Pick<QueueRecord, "definition" | "consumer" | "dialects">>,
): QueueRecord {
  const record = {
    ...row.record,
    ...change,
    modifiedOnMs: registry.nowMs,
    revision: registry.nextRevision(),
  };
  putQueue(registry, { ...row, record });
  return record;
}

/** Warns of queues that were created before the platform, or this broker, made objects in a jurisdiction. */
export function warnOfUnplaced(registry: Registry, warn: (line: string) => void): void {
  if (!registry.hasJurisdictions) return;
  for (const { record } of registry.queues()) {
    const { name, jurisdiction, place } = record;
    if (jurisdiction === null || place !== undefined) continue;
    warn(
      `queue "${name}" was created before jurisdictions held: its messages may be anywhere. To keep them in ` +
        `${jurisdiction}, delete the queue and create it again`,
    );
  }
}

/** Finds a queue whose dead letters go to the queue of a name. */
export function sourceOf(registry: Registry, deadLetterQueue: string): QueueRecord | undefined {
  for (const { record } of registry.queues()) {
    if (deadLetterQueuesOf(record.definition).includes(deadLetterQueue)) return record;
  }
  return undefined;
}

export function refuse(refusal: DirectoryRefusal): DirectoryReply {
  return { ok: false, refusal };
}

import {
  type DirectoryReply,
  isFifoName,
  type Jurisdiction,
  type NewQueue,
  QUEUES_MAX,
  type QueueChange,
  type QueueDefinition,
  type QueueRecord,
  RETENTION_SECONDS_DEFAULT,
} from "@sluice/protocol";
import type { Registry } from "./registry.ts";
import { isNotified, type QueueRow } from "./row.ts";

/** Definition of a queue for which no settings are given. */
export const UNSET_DEFINITION: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
  producers: [],
  consumer: null,
};

/** Creates a queue with a free name. */
export function createQueue(registry: Registry, queue: NewQueue): DirectoryReply {
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
  const record = newRecord(registry, name, { ...UNSET_DEFINITION, ...queue.settings }, queue);
  registry.put({ kind: "queue", record, configured: null, told: 0 });
  return { ok: true, record };
}

/** Changes a queue's own settings; its producers and its consumer stay. A change of an older record is refused. */
export function changeQueue(registry: Registry, queueId: string, change: QueueChange): DirectoryReply {
  const row = registry.queueById(queueId);
  if (row === undefined) return refuse({ kind: "queueNotFound" });
  const { name, definition, dialects, revision, jurisdiction } = row.record;
  if (change.basedOn !== undefined && change.basedOn !== revision)
    return refuse({ kind: "changedMeanwhile" });
  const deadLetterQueue = change.settings?.receive?.redrive?.deadLetterQueue;
  const other = deadLetterQueue === undefined ? undefined : registry.queue(deadLetterQueue)?.record;
  if (deadLetterQueue !== undefined && other !== undefined && other.jurisdiction !== jurisdiction)
    return refuse({ kind: "otherJurisdiction", queue: name, deadLetterQueue });
  const record = changed(registry, row, {
    definition: { ...definition, ...change.settings },
    dialects: { ...dialects, ...change.dialects },
  });
  return { ok: true, record };
}

/** Deletes a queue. A row stays until its object has emptied itself, so that no crash lets the messages come back. */
export function deleteQueue(registry: Registry, queueId: string): DirectoryReply {
  const row = registry.queueById(queueId);
  if (row === undefined) return refuse({ kind: "queueNotFound" });
  const { record } = row;
  const { name, place } = record;
  const revision = registry.nextRevision();
  registry.put({ kind: "deleted", name, revision, ...(place === undefined ? {} : { place }) });
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
  return createQueue(registry, {
    name,
    ...(isFifoName(name) ? { settings: { fifo: {} } } : {}),
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
  registry.put({ ...row, record });
  return record;
}

/** Makes the record of a new queue, with an id of its own. */
export function newRecord(
  registry: Registry,
  name: string,
  definition: QueueDefinition,
  rest: Pick<NewQueue, "jurisdiction" | "dialects"> = {},
): QueueRecord {
  const { nowMs } = registry;
  const before = registry.row(name);
  const { jurisdiction = null } = rest;
  const place = placeFor(registry, jurisdiction);
  return {
    queueId: registry.newId(),
    name,
    createdOnMs: nowMs,
    modifiedOnMs: nowMs,
    revision: registry.nextRevision(),
    emptyAsOf: before?.kind === "deleted" ? before.revision : 0,
    definition,
    consumer: definition.consumer === null ? null : { consumerId: registry.newId(), createdOnMs: nowMs },
    jurisdiction,
    ...(place === undefined ? {} : { place }),
    dialects: rest.dialects ?? {},
  };
}

function placeFor(registry: Registry, jurisdiction: Jurisdiction | null): Jurisdiction | undefined {
  return jurisdiction !== null && registry.hasJurisdictions ? jurisdiction : undefined;
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
    const { consumer, receive } = record.definition;
    if (consumer?.settings.deadLetterQueue === deadLetterQueue) return record;
    if (receive?.redrive?.deadLetterQueue === deadLetterQueue) return record;
  }
  return undefined;
}

export function refuse(refusal: Extract<DirectoryReply, { ok: false }>["refusal"]): DirectoryReply {
  return { ok: false, refusal };
}

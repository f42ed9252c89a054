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
import type { QueueRow } from "./row.ts";

/** Definition of a queue for which no settings are given. */
export const UNSET_DEFINITION: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
  producers: [],
  consumer: null,
};

/** Creates a queue with a free name. */
export function createQueue(registry: Registry, queue: NewQueue): DirectoryReply {
  const { name } = queue;
  if (registry.queue(name) !== undefined) return refuse({ kind: "queueNameTaken", name });
  if (registry.size >= QUEUES_MAX) return refuse({ kind: "tooManyQueues" });
  const record = newRecord(registry, name, { ...UNSET_DEFINITION, ...queue.settings }, queue);
  registry.put({ kind: "queue", record, configured: null, told: 0 });
  return { ok: true, record };
}

/** Changes a queue's own settings; its producers and its consumer stay. A change of an older record is refused. */
export function changeQueue(registry: Registry, queueId: string, change: QueueChange): DirectoryReply {
  const row = registry.queueById(queueId);
  if (row === undefined) return refuse({ kind: "queueNotFound" });
  const { definition, dialects, revision } = row.record;
  if (change.basedOn !== undefined && change.basedOn !== revision)
    return refuse({ kind: "changedMeanwhile" });
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
  registry.put({ kind: "deleted", name: record.name, revision: registry.nextRevision() });
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
  return {
    queueId: registry.newId(),
    name,
    createdOnMs: nowMs,
    modifiedOnMs: nowMs,
    revision: registry.nextRevision(),
    emptyAsOf: before?.kind === "deleted" ? before.revision : 0,
    definition,
    consumer: definition.consumer === null ? null : { consumerId: registry.newId(), createdOnMs: nowMs },
    jurisdiction: rest.jurisdiction ?? null,
    dialects: rest.dialects ?? {},
  };
}

export function refuse(refusal: Extract<DirectoryReply, { ok: false }>["refusal"]): DirectoryReply {
  return { ok: false, refusal };
}

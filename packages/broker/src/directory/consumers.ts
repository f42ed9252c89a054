import {
  type ConsumerDefinition,
  type DirectoryRefusal,
  type DirectoryReply,
  type NewQueue,
  QUEUES_MAX,
  type QueueRecord,
} from "@sluice/protocol";
import { changed, createQueue, definitionWith, ensureQueue, refuse, sourceOf } from "./queues.ts";
import type { Registry } from "./registry.ts";
import { shardsRefusal } from "./shards.ts";

/** Creates a queue with a free name, and its consumer if one is given: both or neither. A given one is the only one. */
export function createWithConsumer(registry: Registry, { consumer, ...queue }: NewQueue): DirectoryReply {
  const definition = definitionWith(registry.configuredAs(queue.name), queue.settings);
  const unsharded = shardsRefusal(consumer === undefined ? definition : { ...definition, consumer });
  if (unsharded !== null) return refuse(unsharded);
  const target = consumer?.settings.deadLetterQueue ?? null;
  if (target !== null && registry.queue(queue.name) === undefined) {
    const { name, jurisdiction = null } = queue;
    const refusal = deadLetterRefusal(registry, { name, jurisdiction }, target, registry.size + 1);
    if (refusal !== null) return refuse(refusal);
  }
  const created = createQueue(registry, queue);
  if (!created.ok || consumer === undefined) return created;
  const { queueId, consumer: configured } = created.record;
  if (consumer !== null) return setConsumer(registry, queueId, configured?.consumerId ?? null, consumer);
  return configured === null ? created : removeConsumer(registry, queueId, configured.consumerId);
}

/** Sets the consumer of a queue without one, or replaces the consumer with `consumerId`. */
export function setConsumer(
  registry: Registry,
  queueId: string,
  consumerId: string | null,
  consumer: ConsumerDefinition,
): DirectoryReply {
  const row = registry.queueById(queueId);
  if (row === undefined) return refuse({ kind: "queueNotFound" });
  const { record } = row;
  const { name } = record;
  if (record.consumer !== null && record.consumer.consumerId !== consumerId) {
    return refuse({ kind: "consumerExists", name, queueId });
  }
  const definition = { ...record.definition, consumer };
  const unsharded = shardsRefusal(definition);
  if (unsharded !== null) return refuse(unsharded);
  const { deadLetterQueue } = consumer.settings;
  if (deadLetterQueue !== null) {
    const refusal = deadLetterRefusal(registry, record, deadLetterQueue, registry.size);
    if (refusal !== null) return refuse(refusal);
    ensureQueue(registry, deadLetterQueue, record.jurisdiction);
  }
  const identity = record.consumer ?? {
    consumerId: consumerId ?? registry.newId(),
    createdOnMs: registry.nowMs,
  };
  return { ok: true, record: changed(registry, row, { definition, consumer: identity }) };
}

/**
 * Returns why dead letters of a queue cannot go to another one; `null` if they can.
 *
 * @param queues number of queues, without the other one if it has to be created.
 */
function deadLetterRefusal(
  registry: Registry,
  { name, jurisdiction }: Pick<QueueRecord, "name" | "jurisdiction">,
  target: string,
  queues: number,
): DirectoryRefusal | null {
  const cycle = deadLetterCycle(registry, name, target);
  if (cycle !== null) return { kind: "deadLetterCycle", queues: cycle };
  const existing = registry.queue(target)?.record;
  if (existing === undefined && queues >= QUEUES_MAX) return { kind: "tooManyQueues" };
  const other = existing ?? (registry.hasJurisdictions ? sourceOf(registry, target) : undefined);
  if (other === undefined || other.jurisdiction === jurisdiction) return null;
  return { kind: "otherJurisdiction", queue: name, deadLetterQueue: target };
}

/** Removes a queue's consumer. Its messages wait. */
export function removeConsumer(registry: Registry, queueId: string, consumerId: string): DirectoryReply {
  const row = registry.queueById(queueId);
  if (row === undefined) return refuse({ kind: "queueNotFound" });
  if (row.record.consumer?.consumerId !== consumerId) return refuse({ kind: "consumerNotFound" });
  const definition = { ...row.record.definition, consumer: null };
  return { ok: true, record: changed(registry, row, { definition, consumer: null }) };
}

/**
 * Returns the path of dead letters of `queue` by way of `deadLetterQueue` if it leads back to the queue, else `null`. A
 * circle without the queue ends the search.
 */
export function deadLetterCycle(registry: Registry, queue: string, deadLetterQueue: string): string[] | null {
  const way = [queue];
  let next: string | null = deadLetterQueue;
  while (next !== null && !way.includes(next)) {
    way.push(next);
    next = registry.queue(next)?.record.definition.consumer?.settings.deadLetterQueue ?? null;
  }
  return next === queue ? way : null;
}

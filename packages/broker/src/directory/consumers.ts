import type { ConsumerDefinition, DirectoryRefusal, DirectoryReply, NewQueue } from "@sluice/protocol";
import { QUEUES_MAX } from "@sluice/protocol";
import { changed, createQueue, ensureQueue, refuse } from "./queues.ts";
import type { Registry } from "./registry.ts";

/** Creates a queue of a name that is free, with its consumer if it is given one: both or neither. */
export function createWithConsumer(registry: Registry, { consumer, ...queue }: NewQueue): DirectoryReply {
  const target = consumer?.settings.deadLetterQueue ?? null;
  if (target !== null && registry.queue(queue.name) === undefined) {
    const refusal = refusalOfTarget(registry, queue.name, target, registry.size + 1);
    if (refusal !== null) return refuse(refusal);
  }
  const created = createQueue(registry, queue);
  if (!created.ok || consumer === undefined) return created;
  return setConsumer(registry, created.record.queueId, null, consumer);
}

/** Gives a queue its only consumer, or replaces it where `consumerId` is the one it has. */
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
  const { deadLetterQueue } = consumer.settings;
  if (deadLetterQueue !== null) {
    const refusal = refusalOfTarget(registry, name, deadLetterQueue, registry.size);
    if (refusal !== null) return refuse(refusal);
    ensureQueue(registry, deadLetterQueue, record.jurisdiction);
  }
  const identity = record.consumer ?? {
    consumerId: consumerId ?? registry.newId(),
    createdOnMs: registry.nowMs,
  };
  const definition = { ...record.definition, consumer };
  return { ok: true, record: changed(registry, row, { definition, consumer: identity }) };
}

/**
 * Why dead letters of a queue cannot go to another one; `null` if they can.
 *
 * @param queues how many there are, without that other one if it has to be created.
 */
function refusalOfTarget(
  registry: Registry,
  name: string,
  target: string,
  queues: number,
): DirectoryRefusal | null {
  const cycle = deadLetterCycle(registry, name, target);
  if (cycle !== null) return { kind: "deadLetterCycle", queues: cycle };
  const isNew = registry.queue(target) === undefined;
  return isNew && queues >= QUEUES_MAX ? { kind: "tooManyQueues" } : null;
}

/** Takes a queue's consumer away: its messages wait. */
export function removeConsumer(registry: Registry, queueId: string, consumerId: string): DirectoryReply {
  const row = registry.queueById(queueId);
  if (row === undefined) return refuse({ kind: "queueNotFound" });
  if (row.record.consumer?.consumerId !== consumerId) return refuse({ kind: "consumerNotFound" });
  const definition = { ...row.record.definition, consumer: null };
  return { ok: true, record: changed(registry, row, { definition, consumer: null }) };
}

/**
 * The way that dead letters of `queue` would take if they went to `deadLetterQueue`, when it leads back to the queue;
 * `null` when it does not. A circle that the queue is not part of is not looked at again and again.
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

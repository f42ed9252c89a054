import type { ConsumerDefinition, DirectoryReply } from "@sluice/protocol";
import { QUEUES_MAX } from "@sluice/protocol";
import { changed, ensureQueue, refuse } from "./queues.ts";
import type { Registry } from "./registry.ts";

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
    const queues = deadLetterCycle(registry, name, deadLetterQueue);
    if (queues !== null) return refuse({ kind: "deadLetterCycle", queues });
    if (registry.queue(deadLetterQueue) === undefined && registry.size >= QUEUES_MAX) {
      return refuse({ kind: "tooManyQueues" });
    }
    ensureQueue(registry, deadLetterQueue, record.jurisdiction);
  }
  const identity = record.consumer ?? {
    consumerId: consumerId ?? registry.newId(),
    createdOnMs: registry.nowMs,
  };
  const definition = { ...record.definition, consumer };
  return { ok: true, record: changed(registry, row, { definition, consumer: identity }) };
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

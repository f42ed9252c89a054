import { changeDelay, changeRules, encodeIndex } from "@sluice/engine";
import type { QueueDefinition } from "@sluice/protocol";
import type { PushDispatcher } from "../push/dispatcher.ts";
import type { QueueContext } from "../turn/context.ts";
import { deliveryDelaySecondsOf, rulesOf } from "../turn/rules.ts";
import type { QueuePart } from "./queue-part.ts";

/** Within a turn: has the queue go by another definition, which it has once `change` has run. */
export function changeDefinition(
  context: QueueContext & { readonly part: QueuePart | null; readonly dispatcher: PushDispatcher },
  change: () => void,
): void {
  const wasConsumer = consumerNameOf(context.definition);
  const delaySeconds = deliveryDelaySecondsOf(context.definition);
  const wasPaused = isPaused(context.definition);
  context.part?.mapChanges();
  change();
  if (consumerNameOf(context.definition) !== wasConsumer) context.dispatcher.consumerReplaced();
  changeRules(context.queue, context.part?.rules() ?? rulesOf(context.definition));
  takeChange(context, delaySeconds, wasPaused);
}

/**
 * At the start: takes in what has changed while the queue was asleep. A turn: what is due by a new delay must not wait
 * on.
 *
 * @param before the stored definition, if there is one. Without one the queue was not paused.
 */
export function definitionWas(context: QueueContext, before: QueueDefinition | undefined): void {
  const { definition } = context;
  const delaySeconds = deliveryDelaySecondsOf(before ?? definition);
  const wasPaused = isPaused(before);
  if (delaySeconds === deliveryDelaySecondsOf(definition) && wasPaused === isPaused(definition)) return;
  context.submit(() => takeChange(context, delaySeconds, wasPaused)).catch(() => {});
}

/** Within a turn: takes in that delay and pause may have been others. The history notes a pause and its end. */
function takeChange(context: QueueContext, wasSeconds: number, wasPaused: boolean): void {
  const isNow = isPaused(context.definition);
  if (isNow !== wasPaused) context.history.record({ kind: isNow ? "paused" : "resumed", count: 0 });
  deliveryDelayChanged(context, wasSeconds);
}

/**
 * Within a turn: gives the queue's new `delivery_delay` to messages of a FIFO queue that still wait for the old one.
 * Elsewhere each keeps the due time that it was stored with.
 */
function deliveryDelayChanged(context: QueueContext, wasSeconds: number): void {
  const { queue, store, nowMs, definition } = context;
  const isSeconds = deliveryDelaySecondsOf(definition);
  if (!queue.isFifo || wasSeconds === isSeconds) return;
  for (const id of changeDelay(queue, 1_000 * wasSeconds, 1_000 * isSeconds, nowMs)) {
    context.write(() => {
      const segment = queue.segments.get(id);
      if (segment !== undefined) store.writeIndex(id, encodeIndex(segment));
    });
  }
}

/** Names whom a queue delivers to. Its other settings may change. */
function consumerNameOf(definition: QueueDefinition | undefined): string {
  const consumer = definition?.consumer ?? null;
  switch (consumer?.type) {
    case "worker":
      return `worker ${consumer.worker}`;
    case "http_push":
      return `http_push ${consumer.settings.format} ${consumer.settings.url}`;
    default:
      return consumer?.type ?? "none";
  }
}

function isPaused(definition: QueueDefinition | undefined): boolean {
  return definition?.deliveryPaused ?? false;
}

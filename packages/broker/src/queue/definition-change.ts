import { changeDelay, changeRules, encodeIndex } from "@sluice/engine";
import type { QueueDefinition } from "@sluice/protocol";
import type { PushDispatcher } from "../push/dispatcher.ts";
import type { QueueContext } from "../turn/context.ts";
import { deliveryDelaySecondsOf, rulesOf } from "../turn/rules.ts";
import type { QueuePart } from "./queue-part.ts";

/** Within a turn: changes the queue's definition. `change` replaces the one that `context.definition` returns. */
export function changeDefinition(
  context: QueueContext & { readonly part: QueuePart | null; readonly dispatcher: PushDispatcher },
  change: () => void,
): void {
  const consumerBefore = consumerNameOf(context.definition);
  const delaySeconds = deliveryDelaySecondsOf(context.definition);
  const wasPaused = isPaused(context.definition);
  context.part?.mapChanges();
  change();
  if (consumerNameOf(context.definition) !== consumerBefore) context.dispatcher.consumerReplaced();
  changeRules(context.queue, context.part?.rules() ?? rulesOf(context.definition));
  takeChange(context, delaySeconds, wasPaused);
}

/**
 * At the start: applies changes of delay and pause that were made while the queue was asleep, in a turn of its own:
 * messages that a shorter delay makes due must not wait for the next call.
 *
 * @param before the stored definition, if there is one. Without one the queue was not paused.
 */
export function takeDefinitionBefore(context: QueueContext, before: QueueDefinition | undefined): void {
  const { definition } = context;
  const delaySeconds = deliveryDelaySecondsOf(before ?? definition);
  const wasPaused = isPaused(before);
  if (delaySeconds === deliveryDelaySecondsOf(definition) && wasPaused === isPaused(definition)) return;
  context.submit(() => takeChange(context, delaySeconds, wasPaused)).catch(() => {});
}

/** Within a turn: applies a change of the delay, and notes in the history that a pause has begun or ended. */
function takeChange(context: QueueContext, delaySecondsBefore: number, wasPaused: boolean): void {
  const isNow = isPaused(context.definition);
  if (isNow !== wasPaused) context.history.record({ kind: isNow ? "paused" : "resumed", count: 0 });
  changeFifoDelay(context, delaySecondsBefore);
}

/**
 * Within a turn: gives the queue's new `delivery_delay` to messages of a FIFO queue that still wait for the old one.
 * Elsewhere each keeps the due time that it was stored with.
 */
function changeFifoDelay(context: QueueContext, before: number): void {
  const { queue, store, nowMs, definition } = context;
  const now = deliveryDelaySecondsOf(definition);
  if (!queue.isFifo || before === now) return;
  for (const id of changeDelay(queue, 1_000 * before, 1_000 * now, nowMs)) {
    context.write(() => {
      const segment = queue.segments.get(id);
      if (segment !== undefined) store.writeIndex(id, encodeIndex(segment));
    });
  }
}

/** Names the consumer of a queue, regardless of its settings. */
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

import { changeDelay, encodeIndex } from "@sluice/engine";
import type { QueueContext } from "../turn/context.ts";
import { deliveryDelaySecondsOf } from "../turn/rules.ts";

/**
 * Within a turn: the queue's `delivery_delay` was another one. On a FIFO queue the new one holds for messages that
 * still wait for the old one too; elsewhere each keeps the due time that it was stored with.
 */
export function deliveryDelayChanged(context: QueueContext, wasSeconds: number): void {
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

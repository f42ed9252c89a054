import { changeDelay, encodeIndex } from "@sluice/engine";
import type { QueueCore } from "./queue-core.ts";

/**
 * Within a turn: the queue's `delivery_delay` is another one than `wasSeconds`. On a FIFO queue the new one holds for messages
 * that still wait for the old one too; elsewhere each keeps the due time that it was stored with.
 */
export function deliveryDelayChanged(core: QueueCore, wasSeconds: number): void {
  const { queue, ports, nowMs, deliveryDelaySeconds } = core;
  if (!queue.isFifo || wasSeconds === deliveryDelaySeconds) return;
  for (const id of changeDelay(queue, 1_000 * wasSeconds, 1_000 * deliveryDelaySeconds, nowMs)) {
    core.write(() => {
      const segment = queue.segments.get(id);
      if (segment !== undefined) ports.store.writeIndex(id, encodeIndex(segment));
    });
  }
}

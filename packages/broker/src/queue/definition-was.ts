import type { QueueDefinition } from "@sluice/protocol";
import type { QueueContext } from "../turn/context.ts";
import { deliveryDelaySecondsOf } from "../turn/rules.ts";
import { deliveryDelayChanged } from "./delivery-delay.ts";
import { isPaused, notePause } from "./note-pause.ts";

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
  const done = context.submit(() => {
    notePause(context, wasPaused);
    deliveryDelayChanged(context, delaySeconds);
  });
  done.catch(() => {});
}

import { giveUp, type LeasedRange, type Slice } from "@sluice/engine";
import { buryDead } from "../dead-letter.ts";
import type { QueueCore } from "../queue-core.ts";
import { isForNotifications } from "./dead-notification.ts";

/*
 * The end of messages of a topic that an endpoint did not take (spec sns-delivery 6.3, 7, 11.2). They live for as long as
 * their queue keeps messages, and whatever ends them, they go to the dead-letter queue of their subscription.
 */

/**
 * Within a turn: ends messages whose next attempt would come when their life is over. An attempt at its very end is made.
 *
 * @param sentMs when they were published.
 * @returns whether that was so.
 */
export function endOutlived(
  core: QueueCore,
  range: LeasedRange,
  sentMs: number,
  delayMs: number,
  reason: string,
): boolean {
  const definition = core.ports.definitionOf(core.name);
  if (definition === undefined || !isForNotifications(definition)) return false;
  const lifeSeconds = definition.messageRetentionSeconds;
  if (core.nowMs + delayMs <= sentMs + 1000 * lifeSeconds) return false;
  const next = `${reason}; the next attempt would be later than ${lifeSeconds} s after it was published`;
  buryDead(core, giveUp(core.queue, range), next);
  return true;
}

/** Within a turn: what becomes of messages that are older than their queue keeps them. */
export function buryExpired(core: QueueCore, expired: readonly Slice[]): void {
  const lifeSeconds = core.ports.definitionOf(core.name)?.messageRetentionSeconds;
  buryDead(core, expired, `it was not delivered within ${lifeSeconds} s`);
}

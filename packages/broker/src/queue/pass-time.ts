import { expireLeases, expireRetention, nextExpiryAt, type Slice } from "@sluice/engine";
import { pluralIs } from "@sluice/protocol/words";
import type { PushDispatcher } from "../push/dispatcher.ts";
import { DEAD_BYTES_MAX, type DeadLetters } from "../transfer/dead-letters.ts";
import type { QueueContext } from "../turn/context.ts";
import { noteSlices } from "../turn/note-slices.ts";
import { expiryDelayMs } from "../turn/retry-delay.ts";
import { isForNotifications } from "../turn/rules.ts";

/** A queue with the parts whose work ends by time. */
export interface PassingQueue extends QueueContext {
  readonly dispatcher: PushDispatcher;
  readonly deadLetters: DeadLetters;
}

/**
 * Within a turn: ends leases that are over, and with them deliveries; messages out of retries are dead-lettered, and
 * messages past their retention leave.
 *
 * @returns whether no message is past its retention. More may be than fit into memory to be dead-lettered: then the
 *   alarm starts the next turn, and until then none may be delivered.
 */
export function passTime(passing: PassingQueue): boolean {
  const { queue, nowMs, definition, log, name, dispatcher, deadLetters, history } = passing;
  const expired = expireLeases(queue, nowMs, (failed) => expiryDelayMs(passing, failed), DEAD_BYTES_MAX);
  dispatcher.leasesExpired(expired, nowMs);
  noteSlices(passing, "retried", expired.retried, { error: "its lease expired" });
  deadLetters.add(expired.dead, "its lease expired", null);
  const outlived: Slice[] = [];
  const isMoved = isForNotifications(definition);
  const bytesMax = isMoved ? DEAD_BYTES_MAX : undefined;
  const count = expireRetention(queue, nowMs, (slice) => outlived.push(slice), bytesMax);
  if (isMoved) {
    deadLetters.addExpired(outlived);
    return count === 0 || (nextExpiryAt(queue) ?? Infinity) > nowMs;
  }
  if (count > 0) {
    noteSlices(passing, "expired", outlived);
    for (const slice of outlived) history.finished.note("expired", slice);
    log.warn(
      `Queue "${name}": ${pluralIs(count, "message")} deleted after the retention period of ` +
        `${queue.rules.retentionMs / 1000} s`,
    );
  }
  return true;
}

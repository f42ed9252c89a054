import { expireLeases, expireRetention, nextExpiryAt, type Slice } from "@sluice/engine";
import { pluralIs } from "@sluice/protocol/words";
import type { PushDispatcher } from "../push/dispatcher.ts";
import { DEAD_BYTES_MAX, type DeadLetters } from "../transfer/dead-letters.ts";
import type { QueueContext } from "../turn/context.ts";
import { noteSlices } from "../turn/note-slices.ts";
import { expiryDelayMs } from "../turn/retry-delay.ts";
import { isForNotifications } from "../turn/rules.ts";

/** A queue with the parts that time ends something of. */
export interface PassingQueue extends QueueContext {
  readonly dispatcher: PushDispatcher;
  readonly deadLetters: DeadLetters;
}

/**
 * Within a turn: lets time do its part. Leases end, and with them deliveries; what is out of retries or older than the
 * queue keeps it leaves.
 *
 * @returns whether all of that is done. Else more messages have outlived their retention than fit into memory to be
 *   dead-lettered: the alarm starts the next turn, and until then none may be delivered.
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

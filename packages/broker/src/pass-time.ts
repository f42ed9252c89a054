import { expireLeases, expireRetention, type Slice } from "@sluice/engine";
import { BURIED_BYTES_MAX, buryDead } from "./dead-letter.ts";
import { isForNotifications } from "./endpoint/dead-notification.ts";
import { buryExpired } from "./endpoint/notification-life.ts";
import type { QueueCore } from "./queue-core.ts";
import { lapseDelayMs } from "./retry-delay.ts";

/**
 * Within a turn: lets time do its part. Leases end, and with them deliveries; what is out of retries or older than the queue
 * keeps it leaves. A job that must not see what is over calls it before the turn does.
 */
export function passTime(core: QueueCore): void {
  const { queue, nowMs } = core;
  const lapsed = expireLeases(queue, nowMs, (failed) => lapseDelayMs(core, failed), BURIED_BYTES_MAX);
  core.dispatcher.noteLapsed(lapsed, nowMs);
  buryDead(core, lapsed.dead, "its lease expired");
  const slices: Slice[] = [];
  const expired = expireRetention(queue, nowMs, (slice) => slices.push(slice));
  if (isForNotifications(core.ports.definitionOf(core.name))) {
    buryExpired(core, slices);
  } else if (expired > 0) {
    core.ports.log.warn(
      `Queue "${core.name}": ${expired} message(s) were kept for the retention period of ` +
        `${queue.rules.retentionMs / 1000} s and are deleted`,
    );
  }
}

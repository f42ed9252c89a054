import { nextWakeAt } from "@sluice/engine";
import type { QueueCore } from "./queue-core.ts";

/**
 * While a delivery or a hand-over runs the alarm is at most this far away, in ms: after a crash nothing else would wake the
 * object, or not before the lease expires, which for a `queue()` handler is 15 minutes.
 */
export const HEARTBEAT_MS = 5_000;

/** Sets the one alarm to the next moment at which anything is due, and the timer to that of those who wait for messages. */
export function armNextWake(core: QueueCore): void {
  const { ports, dispatcher, outbox, moves } = core;
  const moments = [
    nextWakeAt(core.queue, false),
    nextBatchAtMs(core),
    dispatcher.overdueAtMs,
    dispatcher.retryAtMs,
    dispatcher.lookAtMs,
    daemonAtMs(core),
    core.tasks.dueAtMs,
    outbox.retryAtMs,
    core.deduplication.forgetAtMs,
    core.attempts.forgetAtMs,
    moves.dueAtMs,
    dispatcher.busy || outbox.busy || moves.busy ? core.nowMs + HEARTBEAT_MS : null,
  ].filter((moment) => moment !== null);
  if (moments.length > 0) ports.setAlarm(Math.min(...moments));
  const { wakeAtMs } = core.receivers;
  if (wakeAtMs === null) return;
  if (ports.setTimer === undefined) ports.setAlarm(wakeAtMs);
  else ports.setTimer(wakeAtMs);
}

/** When a batch is due that may be delivered, in ms; `null` if none is. */
function nextBatchAtMs({ queue, dispatcher, throttled }: QueueCore): number | null {
  if (!dispatcher.open) return null;
  const wakeMs = nextWakeAt(queue, true);
  return wakeMs === null ? null : Math.max(wakeMs, throttled.nextMs);
}

/** When the worker daemon has something to do. All of its connections are taken: a crash must not keep what waits for one. */
function daemonAtMs({ daemon, nowMs }: QueueCore): number | null {
  const { wakeAtMs, busy } = daemon;
  return wakeAtMs !== null && busy ? Math.max(wakeAtMs, nowMs + HEARTBEAT_MS) : wakeAtMs;
}

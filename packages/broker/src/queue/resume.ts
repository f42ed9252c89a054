import { endPushLeases, type Queue, release, type Slice } from "@sluice/engine";
import { pluralIs } from "@sluice/protocol/words";
import type { Alerts } from "../alerts/alerts.ts";
import type { PeriodicTasks } from "../endpoint/periodic-tasks.ts";
import { countOf } from "../history/journal/event.ts";
import type { Attempts } from "../receive/attempts.ts";
import type { Deduplication } from "../send/deduplication.ts";
import type { SeenIds } from "../send/seen-ids.ts";
import type { DeadLetters } from "../transfer/dead-letters.ts";
import type { Moves } from "../transfer/moves.ts";
import type { Outbox } from "../transfer/outbox.ts";
import type { QueueContext } from "../turn/context.ts";
import { noteSlices } from "../turn/note-slices.ts";
import type { QueuePorts } from "./queue-ports.ts";

/** Settings for deliveries that the end of the epoch before has cut off. */
type CutOff = Pick<QueuePorts, "cutOffCounts" | "cutOffDelayMs" | "cutOffReason">;

/** A queue with the parts that an earlier epoch has left something to. */
export interface ResumedQueue extends QueueContext {
  readonly outbox: Outbox;
  readonly moves: Moves;
  readonly deduplication: Deduplication;
  readonly seen: SeenIds;
  readonly attempts: Attempts;
  readonly tasks: PeriodicTasks;
  readonly alerts: Alerts;
  readonly deadLetters: DeadLetters;
}

/**
 * Goes on with what an earlier epoch left behind, once its segments are loaded: what is on its way to other queues,
 * notes, and deliveries whose end is unknown. Call once, at the start.
 *
 * @param cutOff what becomes of deliveries that the end of the epoch before has cut off.
 * @returns whether anything goes on by itself, without a call from outside.
 */
export function resume(resumed: ResumedQueue, cutOff: CutOff): boolean {
  const { queue, name, log, nowMs } = resumed;
  const { outbox, moves, deduplication, attempts, tasks, deadLetters } = resumed;
  outbox.load();
  for (const { key, bytes } of resumed.store.notes()) {
    if (deduplication.restore(key, bytes) || attempts.restore(key, bytes)) continue;
    if (tasks.restore(key, bytes) || resumed.seen.restore(key, bytes)) continue;
    resumed.alerts.restore(key, bytes);
    moves.restore(key, bytes);
  }
  const { cutOffCounts: counts, cutOffDelayMs: delayMs, cutOffReason } = cutOff;
  const { slices, dead } = endLeases(queue, nowMs, { counts, delayMs });
  const retried = countOf(slices);
  noteSlices(resumed, "retried", slices, { delay: "restart" });
  if (retried > 0) {
    log.info(
      `Queue "${name}": ${pluralIs(retried, "message")} delivered again, since the broker stopped during the delivery` +
        (counts ? "" : "; that delivery does not count as an attempt"),
    );
  }
  deadLetters.add(dead, cutOffReason, null);
  const dueMs =
    outbox.retryAtMs ?? moves.dueAtMs ?? deduplication.forgetAtMs ?? attempts.forgetAtMs ?? tasks.dueAtMs;
  return queue.segments.size > 0 || dueMs !== null;
}

/** Ends deliveries of an earlier epoch. Returns the messages to deliver again, and those that are out of retries. */
function endLeases(
  queue: Queue,
  nowMs: number,
  { counts, delayMs }: { readonly counts: boolean; readonly delayMs: number },
): { readonly slices: readonly Slice[]; readonly dead: readonly Slice[] } {
  if (!counts) return { slices: releasePushLeases(queue, nowMs), dead: [] };
  const { retried, dead } = endPushLeases(queue, nowMs, nowMs + delayMs);
  return { slices: retried, dead };
}

/**
 * Ends every push lease without counting its delivery: call once after a restart for which neither consumer nor message
 * can be blamed. Otherwise saving a file, or producers that fill a disk, would use up the attempts of what is being
 * delivered.
 *
 * @returns the messages that were in delivery.
 */
export function releasePushLeases(queue: Queue, nowMs: number): Slice[] {
  const slices: Slice[] = [];
  for (const segment of [...queue.segments.values()]) {
    for (const { state, leaseKind, leaseId, from, to, attempts } of [...segment.entries]) {
      if (state !== "leased" || leaseKind !== "push") continue;
      slices.push({ segmentId: segment.id, from, to, attempts });
      release(queue, { leaseId, segmentId: segment.id, from, to }, nowMs, nowMs);
    }
  }
  return slices;
}

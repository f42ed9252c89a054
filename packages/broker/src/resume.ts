import { endPushLeases, type Slice } from "@sluice/engine";
import { buryDead } from "./dead-letter.ts";
import { giveBackPushLeases } from "./give-back.ts";
import type { QueueCore } from "./queue-core.ts";

/**
 * Goes on with what an earlier life left behind, once its segments are loaded: what is on its way to other queues, notes, and
 * deliveries of which nobody knows the end. Call once, at the start: it begins a turn if anything goes on by itself.
 */
export function resume(core: QueueCore, nowMs: number): void {
  const { ports, outbox, moves, deduplication, attempts, tasks } = core;
  outbox.load();
  for (const { key, bytes } of ports.store.notes()) {
    if (deduplication.restore(key, bytes) || attempts.restore(key, bytes)) continue;
    if (tasks.restore(key, bytes)) continue;
    moves.restore(key, bytes);
  }
  const { retried, dead } = endLeases(core, nowMs);
  if (retried > 0) {
    ports.log.info(
      `Queue "${core.name}": ${retried} message(s) were in delivery when the broker stopped and are delivered again`,
    );
  }
  buryDead(core, dead, "the broker stopped during its last delivery");
  // What an earlier life left behind goes on by itself, without a call from outside.
  const isDue =
    outbox.retryAtMs ?? moves.dueAtMs ?? deduplication.forgetAtMs ?? attempts.forgetAtMs ?? tasks.dueAtMs;
  if (core.queue.segments.size > 0 || core.hasUnwritten || isDue !== null) core.wakeUp();
}

/** Ends what an earlier life was delivering, and answers with how many messages are delivered again and which died. */
function endLeases(
  { queue, ports }: QueueCore,
  nowMs: number,
): { readonly retried: number; readonly dead: readonly Slice[] } {
  if (ports.wasStorageFull === true) return { retried: giveBackPushLeases(queue, nowMs), dead: [] };
  const { retried, dead } = endPushLeases(queue, nowMs);
  return { retried: retried.reduce((sum, slice) => sum + slice.to - slice.from, 0), dead };
}

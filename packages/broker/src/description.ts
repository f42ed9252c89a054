import { advance, counts, type Queue } from "@sluice/engine";
import type { BacklogMetrics, MessageCounts, QueueDescription } from "@sluice/protocol";
import type { QueueCore } from "./queue-core.ts";

/** What waits in a queue, as a send is answered with it. */
export function metricsOf(queue: Queue): BacklogMetrics {
  const figures = counts(queue);
  return {
    backlogCount: figures.ready + figures.delayed,
    backlogBytes: figures.waitingBytes,
    oldestMessageTimestampMs: figures.oldestWaitingMs ?? 0,
  };
}

/** Where the messages of a queue stand, as SQS counts them. A lease that ended before the last turn is one no more. */
export function messageCountsOf(queue: Queue, nowMs: number): MessageCounts {
  advance(queue, nowMs);
  const { ready, leased, delayed } = counts(queue);
  return { visible: ready, notVisible: leased, delayed };
}

/** A queue for people. What is in delivery is told as of the last turn. */
export function describe(core: QueueCore): QueueDescription {
  const { queue, nowMs, awakeSinceMs, damage, ports } = core;
  const { store } = ports;
  advance(queue, nowMs);
  const figures = counts(queue);
  return {
    queue: core.name,
    nowMs,
    awakeSinceMs,
    ready: figures.ready,
    delayed: figures.delayed,
    leased: figures.leased,
    backlogBytes: figures.waitingBytes,
    oldestMessageTimestampMs: figures.oldestWaitingMs ?? 0,
    rowsWritten: store.rowsWritten,
    rowsRead: store.rowsRead,
    damage: damage.entries,
    consumer: core.dispatcher.health ?? core.daemon.health,
    lastMove: core.moves.list()[0] ?? null,
  };
}

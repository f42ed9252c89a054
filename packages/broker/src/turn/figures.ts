import { advance, counts, type Queue } from "@sluice/engine";
import type { BacklogMetrics, MessageCounts } from "@sluice/protocol";

/** Computes the backlog of a queue for the reply to a send. */
export function metricsOf(queue: Queue): BacklogMetrics {
  const figures = counts(queue);
  return {
    backlogCount: figures.ready + figures.delayed,
    backlogBytes: figures.waitingBytes,
    oldestMessageTimestampMs: figures.oldestWaitingMs ?? 0,
  };
}

/** Counts the messages of a queue as SQS does. A lease that ended before the last turn does not count. */
export function messageCountsOf(queue: Queue, nowMs: number): MessageCounts {
  advance(queue, nowMs);
  const { ready, leased, delayed } = counts(queue);
  return { visible: ready, notVisible: leased, delayed };
}

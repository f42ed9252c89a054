import { advance, counts } from "@sluice/engine";
import type { QueueDescription } from "@sluice/protocol";
import type { Alerts } from "../alerts/alerts.ts";
import type { WorkerDaemon } from "../endpoint/worker-daemon.ts";
import type { PushDispatcher } from "../push/dispatcher.ts";
import type { Moves } from "../transfer/moves.ts";
import type { QueueContext } from "../turn/context.ts";

/** A queue with the parts that a description needs besides its messages. */
export interface DescribedQueue extends QueueContext {
  readonly awakeSinceMs: number;
  readonly dispatcher: PushDispatcher;
  readonly daemon: WorkerDaemon;
  readonly moves: Moves;
  readonly alerts: Alerts;
}

/** Describes a queue for people. Deliveries are as of the last turn. */
export function describe(described: DescribedQueue): QueueDescription {
  const { queue, queueName, nowMs, damage, store, history, awakeSinceMs, dispatcher, daemon, moves } =
    described;
  advance(queue, nowMs);
  const figures = counts(queue);
  const { max: finishedMax } = history.finished;
  const alerts = described.alerts.list();
  return {
    queue: queueName,
    nowMs,
    awakeSinceMs,
    ready: figures.ready,
    delayed: figures.delayed,
    leased: figures.leased,
    backlogBytes: figures.waitingBytes,
    oldestMessageTimestampMs: figures.oldestWaitingMs ?? 0,
    rowsWritten: store.rowsWritten,
    rowsRead: store.rowsRead,
    ...(finishedMax === 0 ? {} : { finishedMax }),
    damage: damage.entries,
    consumer: dispatcher.health ?? daemon.health,
    lastMove: moves.list()[0] ?? null,
    ...(alerts.length === 0 ? {} : { alerts }),
  };
}

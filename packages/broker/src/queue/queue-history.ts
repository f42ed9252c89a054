import { counts } from "@sluice/engine";
import { History } from "../history/history.ts";
import { QUIET_FLUSH_DEPLOYED_MS, QUIET_FLUSH_MS } from "../history/quiet-flush.ts";
import type { PayloadCache } from "../store/payload-cache.ts";
import type { QueueContext } from "../turn/context.ts";
import { finishedMessagesOf, historyMsOf, takesLogs } from "../turn/rules.ts";
import type { QueuePorts } from "./queue-ports.ts";

/**
 * Makes the history of a queue.
 *
 * @param firstNumber larger than any number of an event of an earlier epoch.
 */
export function historyFor(
  context: Omit<QueueContext, "history"> & { readonly cache: PayloadCache },
  ports: Pick<QueuePorts, "keepsHistory" | "isBilled" | "lingerMs" | "after" | "observer" | "clock">,
  firstNumber: number,
): History {
  const { keepsHistory, isBilled, lingerMs, after, observer, clock } = ports;
  return new History({
    name: context.name,
    queueName: context.queueName,
    store: context.store,
    firstNumber,
    observer,
    flushMs: keepsHistory ? QUIET_FLUSH_MS : QUIET_FLUSH_DEPLOYED_MS,
    flushesByAlarm: isBilled,
    get isAtRest() {
      return context.queue.segments.size === 0;
    },
    after: lingerMs === 0 ? undefined : after,
    write: (write) => context.write(write),
    inMemory: (segmentId) => context.cache.written(segmentId),
    isHere: ({ segmentId, index }) => context.queue.segments.get(segmentId)?.has(index) === true,
    wake: () => void context.wake(),
    get nowMs() {
      return context.nowMs;
    },
    get movedMs() {
      return clock.movedMs ?? 0;
    },
    get level() {
      const { ready, delayed, leased, oldestWaitingMs } = counts(context.queue);
      return { held: ready + delayed + leased, oldestMs: oldestWaitingMs };
    },
    get keptMs() {
      return historyMsOf(context.definition, keepsHistory);
    },
    get takesLogs() {
      return takesLogs(context.definition, keepsHistory);
    },
    get finishedMax() {
      return finishedMessagesOf(context.definition, keepsHistory);
    },
  });
}

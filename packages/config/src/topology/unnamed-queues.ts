import { suggestion } from "@sluice/protocol/similar";
import type { ConfigDiagnostic } from "../file/diagnostics.ts";
import type { WorkerQueueConfig } from "../tables/worker-config.ts";

/**
 * Warns of settings of a queue that is named nowhere else, if a queue with a similar name exists. Without a similar
 * name the settings are for other clients, of SQS for instance.
 *
 * @param own configurations whose settings are checked.
 * @param all configurations that may name the queue: these, and those of other processes.
 */
export function unnamedQueues(
  own: readonly WorkerQueueConfig[],
  all: readonly WorkerQueueConfig[],
): ConfigDiagnostic[] {
  const used = usedQueues(all);
  const named = namedQueues(all);
  const warnings = new Map<string, ConfigDiagnostic>();
  for (const { file: main, settingsFile: file = main, queueSettings, lines } of own) {
    for (const [queue, settings] of Object.entries(queueSettings)) {
      // Dead-letter queues have names like their queues'. A queue that has a dead-letter queue is itself none.
      const deadLetters = deadLetterQueuesOf(settings);
      const others = [...(deadLetters.length > 0 ? used : named)].filter(
        (name) => !deadLetters.includes(name),
      );
      const similar = named.has(queue) || warnings.has(queue) ? "" : suggestion(queue, others);
      if (similar === "") continue;
      const line = lines?.queueSettings[queue];
      const text = `No Worker names the queue "${queue}".${similar}`;
      warnings.set(queue, { severity: "warning", file, ...(line === undefined ? {} : { line }), text });
    }
  }
  return [...warnings.values()];
}

/** Collects the queues that are named anywhere but in a table of their own settings. */
export function namedQueues(workers: readonly WorkerQueueConfig[]): Set<string> {
  const names = usedQueues(workers);
  for (const { consumers, queueSettings } of workers) {
    for (const { settings } of consumers) {
      if (settings.deadLetterQueue !== null) names.add(settings.deadLetterQueue);
    }
    for (const name of Object.values(queueSettings).flatMap(deadLetterQueuesOf)) names.add(name);
  }
  return names;
}

/** Collects the queues that Workers send to or consume, or that notifications go to. */
function usedQueues(workers: readonly WorkerQueueConfig[]): Set<string> {
  return new Set(
    workers.flatMap(({ producers, consumers, r2Notifications = [] }) =>
      [...producers, ...consumers, ...r2Notifications].map(({ queue }) => queue),
    ),
  );
}

/** Lists the dead-letter queues that a table of a queue's settings names. */
function deadLetterQueuesOf({ push, redrive }: WorkerQueueConfig["queueSettings"][string]): string[] {
  return [push?.deadLetterQueue ?? null, redrive?.deadLetterQueue ?? null].filter((name) => name !== null);
}

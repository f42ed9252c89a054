import { suggestion } from "@sluice/protocol/similar";
import type { ConfigDiagnostic } from "../file/diagnostics.ts";
import type { WorkerQueueConfig } from "../tables/worker-config.ts";

/**
 * Warns of settings of a queue that is named nowhere else, where a queue with a similar name is. Without such a name they
 * are for other clients, of SQS for instance.
 *
 * @param own configurations whose settings are looked at.
 * @param all configurations that may name the queue: these, and those of other processes.
 */
export function unnamedQueues(
  own: readonly WorkerQueueConfig[],
  all: readonly WorkerQueueConfig[],
): ConfigDiagnostic[] {
  const named = namedQueues(all);
  const warnings = new Map<string, ConfigDiagnostic>();
  for (const { file: main, settingsFile: file = main, queueSettings, lines } of own) {
    for (const queue of Object.keys(queueSettings)) {
      const similar = named.has(queue) || warnings.has(queue) ? "" : suggestion(queue, [...named]);
      if (similar === "") continue;
      const line = lines?.queueSettings[queue];
      const text = `No Worker names the queue "${queue}".${similar}`;
      warnings.set(queue, { severity: "warning", file, ...(line === undefined ? {} : { line }), text });
    }
  }
  return [...warnings.values()];
}

/** Collects the queues that anything names but a table of their own settings. */
export function namedQueues(workers: readonly WorkerQueueConfig[]): Set<string> {
  const names = new Set<string>();
  for (const { producers, consumers, queueSettings, r2Notifications = [] } of workers) {
    for (const { queue } of [...producers, ...r2Notifications]) names.add(queue);
    for (const { queue, settings } of consumers) {
      names.add(queue);
      if (settings.deadLetterQueue !== null) names.add(settings.deadLetterQueue);
    }
    for (const { push, redrive } of Object.values(queueSettings)) {
      if (push?.deadLetterQueue) names.add(push.deadLetterQueue);
      if (redrive !== undefined) names.add(redrive.deadLetterQueue);
    }
  }
  return names;
}

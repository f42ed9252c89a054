import type { WorkerQueueConfig } from "@sluice/config";

/**
 * Selects consumers in other `sluice dev` processes: for queues without a consumer here, and for the dead-letter queues
 * of the selected consumers.
 *
 * Each process stores what its own Workers send and delivers it to the consumer in any process, as `wrangler dev` does.
 * Processes need no agreement: each prefers a consumer of its own, else that of the oldest process.
 *
 * @param own Workers of this process.
 * @param others Workers of other processes, sorted from the oldest process to the newest.
 * @returns the other Workers with only the consumers that are needed here.
 */
export function consumersElsewhere(
  own: readonly WorkerQueueConfig[],
  others: readonly WorkerQueueConfig[],
): WorkerQueueConfig[] {
  const names = new Set(own.map(({ workerName }) => workerName));
  const consumed = new Set(own.flatMap(({ consumers }) => consumers.map(({ queue }) => queue)));
  const adopted = new Map<WorkerQueueConfig, WorkerQueueConfig["consumers"][number][]>();
  const wanted = queuesOf(own);
  // Grows during the loop: an adopted consumer may have a dead-letter queue that is new here.
  for (const queue of wanted) {
    if (consumed.has(queue)) continue;
    for (const worker of others) {
      const consumer = worker.consumers.find((candidate) => candidate.queue === queue);
      // A call to a Worker that also runs here would always reach the one here.
      if (consumer === undefined || names.has(worker.workerName)) continue;
      adopted.set(worker, [...(adopted.get(worker) ?? []), consumer]);
      if (consumer.settings.deadLetterQueue !== null) wanted.add(consumer.settings.deadLetterQueue);
      break;
    }
  }
  return [...adopted].map(([worker, consumers]) => {
    const { file, directory, workerName, env } = worker;
    return { file, directory, workerName, env, producers: [], consumers, queueSettings: {}, warnings: [] };
  });
}

/** Formats which messages go to each Worker in the result of `consumersElsewhere`. */
export function elsewhereLines(workers: readonly WorkerQueueConfig[]): string[] {
  return workers.map(({ workerName, directory, consumers }) => {
    const queues = consumers.map(({ queue }) => queue).join(", ");
    return (
      `Messages of ${queues} go to the Worker "${workerName}" of ${directory}, which another process runs: ` +
      "no Worker here consumes them."
    );
  });
}

function queuesOf(workers: readonly WorkerQueueConfig[]): Set<string> {
  return new Set(
    workers.flatMap(({ producers, consumers }) => [
      ...producers.map(({ queue }) => queue),
      ...consumers.flatMap(({ settings }) => settings.deadLetterQueue ?? []),
    ]),
  );
}

import type { WorkerQueueConfig } from "@sluice/config";

/**
 * Selects what Workers of other `sluice dev` processes add to the queues of this one: the consumers of queues that no
 * Worker here consumes, and of the queues to which those send their dead letters.
 *
 * Each process keeps what its own Workers send and hands it to the consumer wherever that runs, as `wrangler dev` does.
 * So two processes never have to agree about anything: a consumer of one's own always comes first, then that of the
 * process which has been running longest.
 *
 * @param own the Workers of this process.
 * @param others Workers of other processes, those of the oldest process first.
 * @returns the other Workers, stripped of everything but the consumers that are needed here.
 */
export function consumersElsewhere(
  own: readonly WorkerQueueConfig[],
  others: readonly WorkerQueueConfig[],
): WorkerQueueConfig[] {
  const names = new Set(own.map(({ workerName }) => workerName));
  const consumed = new Set(own.flatMap(({ consumers }) => consumers.map(({ queue }) => queue)));
  const adopted = new Map<WorkerQueueConfig, WorkerQueueConfig["consumers"][number][]>();
  const wanted = queuesOf(own);
  // Grows while it is walked: an adopted consumer may have a dead-letter queue that is not known here yet.
  for (const queue of wanted) {
    if (consumed.has(queue)) continue;
    for (const worker of others) {
      const consumer = worker.consumers.find((candidate) => candidate.queue === queue);
      // A Worker that runs here too would be found here, whichever process was meant.
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

function queuesOf(workers: readonly WorkerQueueConfig[]): Set<string> {
  return new Set(
    workers.flatMap(({ producers, consumers }) => [
      ...producers.map(({ queue }) => queue),
      ...consumers.flatMap(({ settings }) => settings.deadLetterQueue ?? []),
    ]),
  );
}

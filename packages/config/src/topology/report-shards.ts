import { isFifoName } from "@sluice/protocol";
import { type ConfigDiagnostic, errorAt } from "../file/diagnostics.ts";
import type { QueueSettings } from "../tables/sluice-table.ts";
import type { WorkerQueueConfig } from "../tables/worker-config.ts";

/**
 * Reports queues that cannot have their number of shards.
 *
 * @param settings merged settings of all files: which shards a queue can have depends on keys that other files may set.
 */
export function reportShards(
  settings: ReadonlyMap<string, QueueSettings>,
  workers: readonly WorkerQueueConfig[],
  diagnostics: ConfigDiagnostic[],
): void {
  for (const [queue, merged] of settings) {
    const why = whyOneShard(queue, merged);
    if ((merged.shards ?? 1) === 1 || why === null) continue;
    const worker = workers.find(({ queueSettings }) => queueSettings[queue]?.shards !== undefined);
    if (worker === undefined) continue;
    const { file, settingsFile = file, lines } = worker;
    diagnostics.push(
      errorAt(settingsFile, lines?.queueSettings[queue], `Queue "${queue}" can have only one shard: ${why}`),
    );
  }
}

/** Returns why a queue can have only one shard; `null` if it can have more. */
function whyOneShard(queue: string, { deduplicationScope, push }: QueueSettings): string | null {
  if (isFifoName(queue) && deduplicationScope !== "messageGroup")
    return 'a FIFO queue with more needs deduplication_scope = "messageGroup"';
  return push?.format === "sqsd" ? "it has a worker daemon" : null;
}

import type { PurgeRecord, QueueRecord } from "@sluice/protocol";
import type { AccountDirectory } from "./queue-directory.ts";

/** Parts of the broker that a purge uses. */
interface PurgePorts {
  readonly account: Pick<AccountDirectory, "notePurge">;
  queue(name: string): { purge(queue: string): Promise<{ readonly purged: number }> };
}

/**
 * Deletes the messages of a queue. The directory knows of the purge from its beginning, so that other requests see that
 * it runs.
 */
export async function purgeAndNote(
  { account, queue }: PurgePorts,
  { name, queueId }: Pick<QueueRecord, "name" | "queueId">,
  now: () => number = Date.now,
): Promise<{ readonly purged: number; readonly purge: PurgeRecord }> {
  const startedMs = now();
  await account.notePurge(queueId, { startedMs, completedMs: null });
  const { purged } = await queue(name).purge(name);
  const purge = { startedMs, completedMs: now() };
  await account.notePurge(queueId, purge);
  return { purged, purge };
}

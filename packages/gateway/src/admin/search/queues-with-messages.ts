import type { QueueRecord } from "@sluice/protocol";
import type { QueueDirectory } from "../../account/queue-directory.ts";

/** Leaves out the queues that are known to be empty: a queue at rest is not woken for nothing. */
export async function queuesWithMessages(
  { account }: QueueDirectory,
  records: readonly QueueRecord[],
): Promise<readonly QueueRecord[]> {
  const atRest = await account.atRest();
  const empty = atRest.filter(
    ({ description: { ready, delayed, leased } }) => ready + delayed + leased === 0,
  );
  const ids = new Set(empty.map(({ queueId }) => queueId));
  return records.filter(({ queueId }) => !ids.has(queueId));
}

import type { R2Bucket } from "@sluice/protocol";
import type { QueueDirectory } from "./queue-directory.ts";

/** Lists the buckets with rules; none, without asking for them, where rules have no effect. */
export async function ruledBuckets({
  r2,
  watchR2,
}: Pick<QueueDirectory, "r2" | "watchR2">): Promise<readonly R2Bucket[]> {
  return watchR2 === null ? [] : r2.listR2Buckets();
}

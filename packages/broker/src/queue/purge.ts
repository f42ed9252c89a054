import { purge } from "@sluice/engine";
import type { PurgeReply } from "@sluice/protocol";
import type { Deduplication } from "../send/deduplication.ts";
import type { QueueContext } from "../turn/context.ts";

/** Within a turn: deletes every message; those on their way to another queue have left this one. */
export function purgeMessages({
  queue,
  history,
  deduplication,
}: Pick<QueueContext, "queue" | "history"> & { readonly deduplication: Deduplication }): PurgeReply {
  deduplication.clear();
  const purged = purge(queue);
  history.purged(purged);
  return { purged };
}

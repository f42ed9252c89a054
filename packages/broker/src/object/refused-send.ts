import type { EnqueueReply, EnqueueRequest } from "@sluice/protocol";
import type { OpenQueue } from "./open-queue.ts";
import { STORAGE_FULL } from "./storage-full.ts";

/** Why messages are not taken in before they are looked at; `undefined` where nothing speaks against them. */
export function refusedSend(
  isStorageFull: boolean,
  open: OpenQueue | undefined,
  { revision = Number.POSITIVE_INFINITY }: EnqueueRequest,
): EnqueueReply | undefined {
  if (isStorageFull) return STORAGE_FULL;
  const unwritable = open?.unwritable ?? null;
  if (unwritable !== null) return unwritable.failure;
  const isOutdated = revision < (open?.registration.record?.revision ?? 0);
  return isOutdated ? { ok: "outdated" } : undefined;
}

import {
  type EnqueueReply,
  type EnqueueRequest,
  protocolRefusal,
  QUEUE_ERROR_CODES,
  type RpcFailure,
} from "@sluice/protocol";
import type { OpenQueue } from "./open/open-queue.ts";
import { STORAGE_FULL } from "./storage-full.ts";

/** Refuses a producer that is too old or too new for this broker. */
export function refusedProtocol(producer: string | undefined, protocol: unknown): RpcFailure {
  const caller = producer === undefined ? "the sending Worker" : `Worker "${producer}"`;
  const cause = `Nothing is stored: ${protocolRefusal(caller, "the broker", protocol)}`;
  return { ok: false, code: QUEUE_ERROR_CODES.unknownInternalError, cause };
}

/** Returns the refusal of messages that are not even looked at; `undefined` if they may be taken in. */
export function refusedSend(
  isStorageFull: boolean,
  open: OpenQueue | undefined,
  { revision = Number.POSITIVE_INFINITY }: EnqueueRequest,
): EnqueueReply | undefined {
  if (isStorageFull) return STORAGE_FULL;
  const unwritable = open?.unwritable ?? null;
  if (unwritable !== null) return unwritable.failure;
  const record = open?.registration.record;
  const isOutdated = revision < (record?.queueRevision ?? record?.revision ?? 0);
  return isOutdated ? { ok: "outdated" } : undefined;
}

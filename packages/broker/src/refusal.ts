import type { RpcFailure } from "@sluice/protocol";
import { QueueNotFoundError } from "./registration.ts";
import { UnreadableQueueError, UnwritableQueueError } from "./unreadable-queue.ts";

/** What a send that was not taken in is answered with. Throws what is no refusal. */
export function refusalOf(error: unknown): RpcFailure {
  const isRefusal =
    error instanceof UnreadableQueueError ||
    error instanceof UnwritableQueueError ||
    error instanceof QueueNotFoundError;
  if (isRefusal) return error.failure;
  throw error;
}

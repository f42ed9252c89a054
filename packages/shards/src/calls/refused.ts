import { QUEUE_ERROR_CODES } from "@sluice/protocol";

const OF_ONE_SHARD: readonly unknown[] = [
  QUEUE_ERROR_CODES.queueStorageLimitExceeded,
  QUEUE_ERROR_CODES.queueOverloaded,
  QUEUE_ERROR_CODES.queueNotFound,
];

/** Whether an answer is a refusal that holds for one shard alone. Nothing was stored then. */
export function isOfOneShard(answer: unknown): boolean {
  return OF_ONE_SHARD.includes((answer as { readonly code?: unknown } | null | undefined)?.code);
}

/**
 * Whether the platform has refused a call because its object has too much to do. An object that was reset because its
 * storage was too slow is marked as overloaded too: then the call may have been carried out.
 */
export function isRefusedUnread(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { overloaded, durableObjectReset } = error as { overloaded?: unknown; durableObjectReset?: unknown };
  return overloaded === true && durableObjectReset !== true;
}

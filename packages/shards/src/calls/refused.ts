import { QUEUE_ERROR_CODES, type RpcFailure } from "@sluice/protocol";

/** Refusals of a shard that has too much to do, or holds too much. */
const TOO_MUCH: readonly number[] = [
  QUEUE_ERROR_CODES.queueStorageLimitExceeded,
  QUEUE_ERROR_CODES.queueOverloaded,
];

/** Whether a refusal says something about one shard. It is made before anything is stored. */
export function isOfOneShard({ code }: RpcFailure): boolean {
  return TOO_MUCH.includes(code) || code === QUEUE_ERROR_CODES.queueNotFound;
}

/** Whether an answer is the refusal of a shard that has too much. */
export function isTooMuch(answer: unknown): boolean {
  const { ok, code = 0 } = (answer ?? {}) as { readonly ok?: unknown; readonly code?: number };
  return ok === false && TOO_MUCH.includes(code);
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

import { QUEUE_ERROR_CODES, type RpcFailure } from "@sluice/protocol";
import type { Shards } from "../calls/shards.ts";

/** Refusals that say something about one shard, and that are made before anything is stored. */
const OF_ONE_SHARD: readonly number[] = [
  QUEUE_ERROR_CODES.queueStorageLimitExceeded,
  QUEUE_ERROR_CODES.queueOverloaded,
  QUEUE_ERROR_CODES.queueNotFound,
];

/**
 * Sends to a shard of a standard queue: to the same as long as it takes messages in, so that requests of an isolate
 * share calls and commits. Where it refuses, the next ones are tried, each once; the last refusal is answered.
 *
 * @param send sends to a shard.
 * @param refusalOf finds why nothing was stored in an answer; `null` if it was.
 */
export async function sendSticky<Reply>(
  shards: Shards,
  send: (shard: number) => Promise<Reply>,
  refusalOf: (reply: Reply) => RpcFailure | null,
): Promise<Reply> {
  const { known } = shards.ports;
  for (let tried = 1; ; tried++) {
    const { open } = shards.map;
    const state = known.get(shards.queue);
    const shard = (state?.sendTo ?? 0) % open;
    // Also when another request has moved on meanwhile.
    const moveOn = () => {
      if (state?.sendTo === shard) state.sendTo = (shard + 1) % open;
    };
    try {
      const reply = await send(shard);
      const refusal = refusalOf(reply);
      if (refusal === null || !OF_ONE_SHARD.includes(refusal.code)) return reply;
      moveOn();
      if (tried >= open) return reply;
    } catch (error) {
      if (!isRefusedUnread(error)) throw error;
      moveOn();
      if (tried >= open) throw error;
    }
  }
}

/**
 * Whether the platform has refused a call because its object has too much to do. An object that was reset because its
 * storage was too slow is marked as overloaded too: then the call may have been carried out.
 */
function isRefusedUnread(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { overloaded, durableObjectReset } = error as { overloaded?: unknown; durableObjectReset?: unknown };
  return overloaded === true && durableObjectReset !== true;
}

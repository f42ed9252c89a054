import type { RpcFailure } from "@sluice/protocol";
import { isOfOneShard, isRefusedUnread } from "../calls/refused.ts";
import type { Shards } from "../calls/shards.ts";

/**
 * Sends to a shard of a standard queue: always to the same as long as that takes messages in, so that requests of an
 * isolate share calls and commits. Where it refuses, the next ones are tried, each once; the last refusal is the
 * answer.
 *
 * @param send sends to a shard.
 * @param refusalOf finds why nothing was stored in an answer; `null` if it was.
 * @param isInTurn whether the next request goes to the next shard.
 */
export async function sendSticky<Reply>(
  shards: Shards,
  send: (shard: number) => Promise<Reply>,
  refusalOf: (reply: Reply) => RpcFailure | null,
  isInTurn = false,
): Promise<Reply> {
  const { known } = shards.ports;
  for (let tried = 1; ; tried++) {
    const { open } = shards.map;
    const shard = (known.get(shards.queue)?.sendTo ?? 0) % open;
    // Another request may have moved on meanwhile, or learned another map.
    const moveOn = () => {
      const state = known.get(shards.queue);
      if (state?.sendTo === shard) state.sendTo = (shard + 1) % open;
    };
    try {
      const reply = await send(shard);
      const isRefused = isOfOneShard(refusalOf(reply));
      if (isRefused || isInTurn) moveOn();
      if (!isRefused) return reply;
      if (tried >= open) return reply;
    } catch (error) {
      if (!isRefusedUnread(error)) throw error;
      moveOn();
      if (tried >= open) throw error;
    }
  }
}

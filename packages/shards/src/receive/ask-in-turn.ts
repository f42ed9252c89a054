import { RECEIVES_IN_A_ROW_MAX } from "../calls/known-queues.ts";
import { MapChangedError, type Shards } from "../calls/shards.ts";

/**
 * Lists the shards in the order in which a receive asks them: from the one where messages were seen last, or after
 * `RECEIVES_IN_A_ROW_MAX` receives from the next.
 */
export function inTurn({ queue, map, kept, ports }: Shards): readonly number[] {
  const from = (ports.known.get(queue)?.receiveFrom ?? 0) % map.kept;
  return [...kept.slice(from), ...kept.slice(0, from)];
}

/** Notes that a shard had messages: the next receive begins with it. */
export function sawMessages({ queue, map, ports }: Shards, shard: number): void {
  const known = ports.known.get(queue);
  if (known === undefined) return;
  known.receivesInARow = known.receiveFrom === shard ? known.receivesInARow + 1 : 1;
  known.receiveFrom = shard;
  if (known.receivesInARow < RECEIVES_IN_A_ROW_MAX) return;
  known.receiveFrom = (shard + 1) % map.kept;
  known.receivesInARow = 0;
}

/**
 * Asks one shard after the other until one has messages. A shard that does not answer is passed over. But where no
 * other shard has messages its error is thrown, because it may have some.
 *
 * @param hasMessages whether an answer has messages.
 * @param passesOver false for a receive with an attempt id: an answer that is missing may have its messages. Default
 *   true.
 * @returns the answer with messages, or one of those without.
 */
export async function askInTurn<Reply>(
  shards: Shards,
  ask: (shard: number) => Promise<Reply>,
  hasMessages: (reply: Reply) => boolean,
  passesOver = true,
): Promise<{ readonly shard: number; readonly reply: Reply; readonly others: readonly Reply[] }> {
  const without: Reply[] = [];
  const failures: unknown[] = [];
  for (const shard of inTurn(shards)) {
    try {
      const reply = await ask(shard);
      if (hasMessages(reply)) {
        sawMessages(shards, shard);
        return { shard, reply, others: without };
      }
      without.push(reply);
    } catch (error) {
      // The answer that is missing may have had messages, which shards of the next map would not find.
      if (error instanceof MapChangedError && failures.length > 0) break;
      if (error instanceof MapChangedError || !passesOver) throw error;
      failures.push(error);
    }
  }
  const [reply] = without;
  if (failures.length > 0 || reply === undefined) throw failures[0];
  return { shard: 0, reply, others: without };
}

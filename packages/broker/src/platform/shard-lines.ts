import { type ShardMap, shardOf } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";

/**
 * Makes the line for people about another number of shards; `null` where it stays. Shard 0 says it, when it goes by the
 * map.
 */
export function shardsLine(
  object: string,
  before: ShardMap | undefined,
  after: ShardMap | undefined,
): string | null {
  const { queue, shard } = shardOf(object);
  const open = after?.open ?? 1;
  const had = before?.open ?? 1;
  if (shard > 0 || open === had) return null;
  if (open > had) return `Queue "${queue}" has ${plural(open, "shard")} now`;
  const draining = (after?.kept ?? 1) - open;
  return `Queue "${queue}" goes to ${plural(open, "shard")}: ${draining} ${draining === 1 ? "is" : "are"} draining`;
}

/** Makes the line for people about a queue or a shard that has dropped what it held. @param messages what that was. */
export function droppedLine(object: string, messages: number): string {
  const { queue, shard } = shardOf(object);
  const held = messages === 0 ? "" : `, with ${plural(messages, "message")}`;
  if (shard === 0) return `Queue "${queue}" is deleted${held}`;
  return `Shard ${shard} of queue "${queue}" is gone${held}`;
}

import { type ShardMap, shardOf } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";

/** Makes the log line about a new number of shards; `null` if it stays. Shard 0 logs it when it adopts the map. */
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

/** Makes the log line about a queue or a shard that is gone. @param messages how many it has dropped. */
export function droppedLine(object: string, messages: number): string {
  const { queue, shard } = shardOf(object);
  const held = messages === 0 ? "" : `, with ${plural(messages, "message")}`;
  if (shard === 0) return `Queue "${queue}" is deleted${held}`;
  return `Shard ${shard} of queue "${queue}" is gone${held}`;
}

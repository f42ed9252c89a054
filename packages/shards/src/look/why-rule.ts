import type { MessageCounts, QueueWhy } from "@sluice/protocol";
import type { Shards } from "../calls/shards.ts";
import { sumOf, withoutRepeats } from "../merge/amounts.ts";

/** Explains why the shard that has most waiting delivers nothing more, and adds what else is wrong with any of them. */
export async function why(shards: Shards): Promise<QueueWhy> {
  const parts = await shards.all(async (shard) => {
    const [own, counts] = await Promise.all([shards.call(shard, "why"), shards.call(shard, "messageCounts")]);
    return { shard, own, counts };
  });
  const [first, ...others] = parts.toSorted((a, b) => compareWaiting(b.counts, a.counts));
  if (first === undefined) throw new Error(`queue "${shards.queue}" has no shards`);
  const { also: _, messages: __, ...reason } = first.own;
  const isOfAll = others.every(({ own }) => own.reason === "empty" || own.text === reason.text);
  const text = isOfAll ? reason.text : `Of shard ${first.shard}, where most messages wait: ${reason.text}`;
  const held = parts.flatMap(({ own }) => own.messages ?? []);
  return {
    ...reason,
    text,
    also: withoutRepeats(parts.flatMap(({ own }) => own.also)),
    // A shard of which nothing can be read has no counts: then the description has damage, and the others' counts.
    messages: {
      ready: sumOf(held, ({ ready }) => ready),
      delayed: sumOf(held, ({ delayed }) => delayed),
      leased: sumOf(held, ({ leased }) => leased),
    },
  };
}

/** Orders by the messages that are visible, then by those that are delayed, then by those in flight. */
function compareWaiting(a: MessageCounts, b: MessageCounts): number {
  return a.visible - b.visible || a.delayed - b.delayed || a.notVisible - b.notVisible;
}

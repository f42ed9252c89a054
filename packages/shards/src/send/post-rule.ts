import { isFifoName, type PostReply, type SendRequest } from "@sluice/protocol";
import type { Shards } from "../calls/shards.ts";
import { sendByGroups } from "./send-fifo.ts";
import { sendSticky } from "./send-sticky.ts";

/** Sends what a producer posts, whose messages have no groups. The figures of the answer are those of one shard. */
export async function post(
  shards: Shards,
  requests: readonly SendRequest[],
  producer?: string,
  protocol?: number,
): Promise<PostReply> {
  const send = (shard: number) => shards.call(shard, "post", requests, producer, protocol);
  if (!isFifoName(shards.queue)) {
    return sendSticky(shards, send, (reply) => (typeof reply === "string" ? null : reply));
  }
  let figures = "";
  const refusal = await sendByGroups(shards, [{ group: "", messages: requests }], async (shard) => {
    const reply = await send(shard);
    if (typeof reply !== "string") return reply;
    figures = reply;
    return { ok: true };
  });
  return refusal === null || refusal.ok === "outdated" ? figures : refusal;
}

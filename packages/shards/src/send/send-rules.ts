import {
  type EnqueuedMessage,
  type EnqueueReply,
  type EnqueueRequest,
  isFifoName,
  type RpcFailure,
  type SendReply,
  type SendRequest,
} from "@sluice/protocol";
import type { Shards } from "../calls/shards.ts";
import { placesOf, RequestParts } from "./groups.ts";
import { sendByGroups } from "./send-fifo.ts";
import { sendSticky } from "./send-sticky.ts";

/** Sends batches. The figures of the answer are those of one shard: to ask the others would cost a call of each. */
export async function send(
  shards: Shards,
  requests: readonly SendRequest[],
  producer?: string,
): Promise<SendReply> {
  if (!isFifoName(shards.queue)) {
    const sendTo = (shard: number) => shards.call(shard, "send", requests, producer);
    const isInTurn = requests.some(({ inTurn }) => inTurn);
    return sendSticky(shards, sendTo, (reply) => (reply.ok ? null : reply), isInTurn);
  }
  let last: SendReply | null = null;
  // One after the other: batches may have messages of the same group.
  for (const request of requests) {
    const parts = new RequestParts(request);
    const refusal = await sendByGroups(shards, parts.groups, async (shard, groups) => {
      const reply = await shards.call(shard, "send", [parts.requestOf(placesOf(groups))], producer);
      if (reply.ok) last = reply;
      return reply;
    });
    if (refusal?.ok === false) return refusal;
  }
  return last ?? shards.call(0, "send", requests, producer);
}

/** Stores messages, and answers for each in the order of the request. */
export async function enqueue(shards: Shards, request: EnqueueRequest): Promise<EnqueueReply> {
  const store = async (shard: number, part: EnqueueRequest): Promise<EnqueueReply> => {
    const done = await shards.call(shard, "work", { enqueue: part });
    return done.ok ? (done.enqueued ?? NOT_ASKED) : done;
  };
  if (!isFifoName(shards.queue)) {
    // Shard 0 remembers the ids of all such requests.
    if (request.once !== undefined) return store(0, request);
    return sendSticky(
      shards,
      (shard) => store(shard, request),
      (reply) => (reply.ok === false ? reply : null),
      request.inTurn,
    );
  }
  const parts = new RequestParts(request);
  const messages = Array<EnqueuedMessage | undefined>(parts.count).fill(undefined);
  const refusal = await sendByGroups(shards, parts.groups, async (shard, groups) => {
    const places = placesOf(groups);
    const reply = await store(shard, parts.requestOf(places));
    if (reply.ok === true) for (const [i, place] of places.entries()) messages[place] = reply.messages?.[i];
    return reply;
  });
  if (refusal !== null) return refusal;
  const stored = messages.filter((message) => message !== undefined);
  if (stored.length < parts.count) throw new Error(`queue "${shards.queue}" answered for too few messages`);
  return { ok: true, messages: stored };
}

/** Answer for an object that leaves out what was asked for, which none does. */
const NOT_ASKED: RpcFailure = { ok: false, code: 0, cause: "the shard did not answer for the messages" };

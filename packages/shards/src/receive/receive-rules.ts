import {
  joinPacked,
  type PeekedBatch,
  type PullReply,
  type PullRequest,
  QueueError,
  type ReceiveNowReply,
  type ReceiveReply,
  type ReceiveRequest,
  tokenOfQueue,
} from "@sluice/protocol";
import { checkMap, MapChangedError, type Shards } from "../calls/shards.ts";
import { askInTurn, inTurn, sawMessages } from "./ask-in-turn.ts";

/** Pulls from the first shard that has messages. The backlog of the answer is that of its shard. */
export async function pull(shards: Shards, request: PullRequest): Promise<PullReply> {
  const { shard, reply, others } = await askInTurn(
    shards,
    (at) => shards.call(at, "pull", request),
    (answer) => answer.ok && answer.batch.leaseIds.length > 0,
  );
  if (reply.ok && reply.batch.leaseIds.length > 0) {
    const leaseIds = reply.batch.leaseIds.map((id) => tokenOfQueue(id, shard));
    return { ok: true, batch: { ...reply.batch, leaseIds } };
  }
  return others.find(({ ok }) => !ok) ?? reply;
}

/** Lists the first messages of one shard after the other: bodies of all of them would not fit into the memory. */
export async function peek(shards: Shards, max: number): Promise<PeekedBatch> {
  const packed: Uint8Array[] = [];
  const attempts: number[] = [];
  const refs: string[] = [];
  for (const shard of shards.kept) {
    if (refs.length >= max) break;
    const found = await shards.call(shard, "peek", max - refs.length);
    packed.push(found.packed);
    attempts.push(...found.attempts);
    refs.push(...found.refs.map((ref) => tokenOfQueue(ref, shard)));
  }
  return { packed: joinPacked(packed), attempts, refs };
}

/**
 * Receives without a wait: each request gets the messages of the first shard that has some. One that finds none while a
 * shard does not answer is `unserved`, so that what the others got is not lost.
 */
export async function receiveNow(
  shards: Shards,
  requests: readonly ReceiveRequest[],
): Promise<ReceiveNowReply[]> {
  const replies: (ReceiveNowReply | null)[] = requests.map(() => null);
  const failures: unknown[] = [];
  const ask = async (shard: number, places: readonly number[], onlyRepeated: boolean) => {
    const asked = places.map((place) => {
      const request = requests[place] as ReceiveRequest; // one of them
      return onlyRepeated ? { ...request, onlyRepeated } : request;
    });
    const done = await shards.call(shard, "work", { receive: asked });
    if (!done.ok) throw new QueueError(done.code, done.cause);
    for (const [i, place] of places.entries()) {
      const reply = withTokens(done.received?.[i] ?? { kind: "unserved" }, shard);
      const known = replies[place] ?? null;
      if (known === null || known.kind === "empty" || reply.kind === "received") replies[place] = reply;
    }
  };
  const open = () => requests.flatMap((_, place) => (isServed(replies[place] ?? null) ? [] : [place]));
  const repeated = requests.flatMap(({ attemptId }, place) => (attemptId === undefined ? [] : [place]));
  if (repeated.length > 0) {
    await shards.byLaterMaps(() => shards.all((shard) => ask(shard, repeated, true)));
  }
  await shards.byLaterMaps(async () => {
    for (const shard of inTurn(shards)) {
      const places = open();
      if (places.length === 0) return;
      try {
        await ask(shard, places, false);
        if (open().length < places.length) sawMessages(shards, shard);
      } catch (error) {
        // An answer that is missing may have had messages, which shards of the next map would not find.
        if (error instanceof MapChangedError && failures.length > 0) return;
        if (error instanceof MapChangedError) throw error;
        // The missing answer may have the messages of an attempt id: its client repeats the attempt.
        failures.push(error);
        if (repeated.length > 0) return;
      }
    }
  });
  if (failures.length > 0 && !replies.some(isServed)) throw failures[0];
  return replies.map((reply) => {
    if (failures.length > 0 && !isServed(reply)) return { kind: "unserved" };
    return reply ?? { kind: "empty" };
  });
}

/** Whether a receive has its messages. */
function isServed(reply: ReceiveNowReply | null): boolean {
  return reply?.kind === "received";
}

/**
 * Receives, and waits for messages at all shards: the first that has some wins. The waits at the others end, and what
 * they had given by then is released, uncounted.
 */
export async function receive(shards: Shards, request: ReceiveRequest): Promise<ReceiveReply> {
  if (request.attemptId !== undefined) {
    const asked = { ...request, onlyRepeated: true, waitMs: 0 };
    const found = await shards.all(async (shard) =>
      withTokens(await shards.call(shard, "receive", asked), shard),
    );
    const again = found.find(({ kind }) => kind === "received");
    if (again !== undefined) return again;
  }
  if (request.waitMs === 0) {
    const { shard, reply, others } = await askInTurn(
      shards,
      (at) => shards.call(at, "receive", request),
      ({ kind }) => kind === "received",
      request.attemptId === undefined,
    );
    if (reply.kind === "received") return withTokens(reply, shard);
    return others.find(({ kind }) => kind === "overLimit") ?? reply;
  }
  const { waits, now } = shards.ports;
  const receiverId = request.receiverId ?? crypto.randomUUID();
  const wait = { isCancelled: false };
  waits.set(receiverId, wait);
  const deadlineMs = now() + (request.waitMs ?? 0);
  try {
    return await shards.byLaterMaps(async () => {
      if (wait.isCancelled) return { kind: "empty" };
      const waitMs = Math.max(0, deadlineMs - now());
      return await waitAtAll(shards, {
        ...request,
        receiverId,
        ...(request.waitMs === undefined ? {} : { waitMs }),
      });
    });
  } finally {
    waits.delete(receiverId);
  }
}

/** Ends a wait at all shards, as well as where it begins anew by a later map. */
export async function cancelReceive(shards: Shards, receiverId: string): Promise<void> {
  const wait = shards.ports.waits.get(receiverId);
  if (wait !== undefined) wait.isCancelled = true;
  await shards.all((shard) => shards.call(shard, "cancelReceive", receiverId));
}

async function waitAtAll(
  shards: Shards,
  request: ReceiveRequest & { readonly receiverId: string },
): Promise<ReceiveReply> {
  const { kept } = shards;
  const first = Promise.withResolvers<number | null>();
  const calls = kept.map(async (shard) => {
    try {
      const reply = await shards.call(shard, "receive", request);
      if (reply.kind === "received") first.resolve(shard);
      return reply;
    } catch (error) {
      if (error instanceof MapChangedError) first.resolve(null);
      throw error;
    }
  });
  void Promise.allSettled(calls).then(() => first.resolve(null));
  const winner = await first.promise;
  const others = kept.filter((shard) => shard !== winner);
  const cancelled = others.map((shard) =>
    shards.byLaterMaps(() => shards.call(shard, "cancelReceive", request.receiverId)),
  );
  // A shard that does not answer ends its wait by itself.
  const [settled] = await Promise.all([Promise.allSettled(calls), Promise.allSettled(cancelled)]);
  const received = settled.flatMap((one, shard) =>
    one.status === "fulfilled" && one.value.kind === "received" ? [{ shard, reply: one.value }] : [],
  );
  const chosen = received.find(({ shard }) => shard === winner) ?? received[0];
  if (chosen !== undefined) {
    sawMessages(shards, chosen.shard);
    const surplus = received.filter(({ shard }) => shard !== chosen.shard);
    await Promise.allSettled(
      surplus.map(({ shard, reply }) =>
        shards.byLaterMaps(() => shards.call(shard, "release", reply.receipts)),
      ),
    );
    return withTokens(chosen.reply, chosen.shard);
  }
  checkMap(settled);
  for (const one of settled) if (one.status === "rejected") throw one.reason;
  return { kind: "empty" };
}

function withTokens<Reply extends ReceiveNowReply>(reply: Reply, shard: number): Reply {
  if (reply.kind !== "received") return reply;
  return { ...reply, receipts: reply.receipts.map((receipt) => tokenOfQueue(receipt, shard)) };
}

import { copyOf } from "@sluice/objects/parts";
import {
  isWhole,
  mapInError,
  type PullReply,
  QueueObjects,
  type QueueWork,
  type ReceiveReply,
  readShardAddress,
  type SendRequest,
  ShardMapError,
  shardName,
  shardOf,
} from "@sluice/protocol";
import { QUEUE_RULES, type QueueRpc, ShardedQueues } from "@sluice/shards";
import { retagged, tagsOf } from "../ledger/tags.ts";
import { exchange } from "../platform/network.ts";
import type { ShardWorld } from "./shard-world.ts";

/** Methods whose calls arrive once, as all do on the platform: the ledger relies on their answers. */
const ONCE: readonly string[] = ["purge", "startMove", "metrics", "messageCounts"];

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** Makes the caller's side of an isolate, which learns maps by its own calls. */
export function newIsolate(world: ShardWorld): ShardedQueues<keyof QueueRpc> {
  const objects = new QueueObjects<QueueRpc>({
    namespace: () => ({ getByName: (name) => stubOf(world, name) as QueueRpc }),
    placeOf: async () => null,
  });
  return new ShardedQueues(objects, QUEUE_RULES, {
    random: () => world.random.fraction(),
    now: () => world.nowMs,
  });
}

/** Makes a stub of an object. Its calls arrive in order. */
export function stubOf(world: ShardWorld, name: string): object {
  let before: Promise<unknown> = Promise.resolve();
  const call = (method: string, args: readonly unknown[]): Promise<unknown> => {
    const earlier = before;
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    before = arrived;
    const answer = exchange(
      world,
      async () => {
        await earlier;
        resolve();
        return arrive(world, name, method, args);
      },
      !ONCE.includes(method),
    );
    return answer.finally(resolve);
  };
  return new Proxy({} as Record<string, Call>, {
    get: (_, method) => (method === "then" ? undefined : (...args: unknown[]) => call(String(method), args)),
  });
}

async function arrive(
  world: ShardWorld,
  called: string,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  const { ledger, bug } = world;
  let name = called;
  let [address, ...rest] = args.map(copyOf) as [string, ...unknown[]];
  const { epoch } = readShardAddress(address);
  const { queue, shard } = shardOf(name);
  const work = method === "work" ? (rest[0] as QueueWork) : null;
  const isByToken = work?.remove !== undefined || work?.change !== undefined || method === "settleLeases";
  const isSend = method === "send" || method === "post" || work?.enqueue !== undefined;
  if (isByToken && shard > 0 && bug?.shards === "mistakesTokens") {
    name = shardName(queue, shard - 1);
    address = address.replace(called, name);
  }
  const planted = plantedAnswer(world, shard, method, work);
  if (planted !== undefined) return planted;
  const object = world.object(name);
  const { shards: map } = object.record ?? {};
  if (isSend && bug?.shards === "storesByOldMaps" && epoch !== null && object.record !== null)
    address = map === undefined ? name : `${name}@${Math.max(epoch, map.epoch)}`;
  if (isSend && bug?.shards === "refusesWithoutMap" && epoch === null && map !== undefined && !isWhole(map))
    throw new ShardMapError(queue, map);
  const number = world.nextCall();
  world.note("call arrives", name, number);
  world.log.remark(`${number}: ${method} by ${address}`);
  if (isSend) rest = [sendAs(world, work, rest[0], epoch), ...rest.slice(1)];
  if (method === "purge") ledger.purgeArrives(name);
  noteSettled(world, name, method, work, rest[0]);
  try {
    const answer = await object.call<unknown>(method, address, ...rest);
    noteReceived(world, name, method, answer);
    world.note("call is answered", name, number, 1);
    return copyOf(answer);
  } catch (error) {
    world.note("call is answered", name, number, 0);
    world.log.remark(`${number}: ${String(error)}`);
    const known = mapInError(error);
    if (known !== null && bug?.shards === "skipsFormerOwner")
      throw new ShardMapError(queue, { epoch: known.epoch, open: known.open, kept: known.kept });
    throw error;
  }
}

/** Answer of a shard that a planted mistake leaves out; `undefined` if the call is made. */
function plantedAnswer({ bug }: ShardWorld, shard: number, method: string, work: QueueWork | null): unknown {
  if (shard !== 1) return undefined;
  if (bug?.shards === "purgesAllButOne" && method === "purge") return { purged: 0 };
  if (bug?.shards === "countsAllButOne" && method === "metrics")
    return { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 };
  if (bug?.shards !== "forgetsAShard") return undefined;
  if (method === "receive") return { kind: "empty" };
  if (work?.receive !== undefined) return { ok: true, received: work.receive.map(() => ({ kind: "empty" })) };
  return undefined;
}

/** Gives sent messages the tags of this arrival. */
function sendAs(world: ShardWorld, work: QueueWork | null, first: unknown, epoch: number | null): unknown {
  const retag = <Request extends SendRequest>(request: Request): Request => {
    const { ledger, loop } = world;
    const logicals = tagsOf(request.packed);
    const firstTag = world.takeTags(logicals.length);
    const tags = logicals.map((logical, i) => {
      const tag = firstTag + i;
      ledger.arrivals.set(tag, { logical, event: loop.events, epoch });
      ledger.tagsByLogical.set(logical, [...(ledger.tagsByLogical.get(logical) ?? []), tag]);
      return tag;
    });
    return { ...request, packed: retagged(request.packed, tags) };
  };
  if (work?.enqueue !== undefined) return { ...work, enqueue: retag(work.enqueue) };
  return (first as readonly SendRequest[]).map(retag);
}

/** Records the messages that a call deletes or acknowledges by their tokens. */
function noteSettled(
  { ledger, tagOfToken }: ShardWorld,
  name: string,
  method: string,
  work: QueueWork | null,
  first: unknown,
): void {
  const acks = method === "settleLeases" ? (first as { readonly acks: readonly string[] }).acks : [];
  for (const token of [...acks, ...(work?.remove ?? [])]) {
    const tag = tagOfToken.get(`${name} ${token}`);
    if (tag !== undefined) ledger.settled.add(tag);
  }
}

/** Records the token of each message in an answer. */
function noteReceived({ tagOfToken }: ShardWorld, name: string, method: string, answer: unknown): void {
  const enter = (packed: Uint8Array, tokens: readonly string[]) => {
    for (const [i, tag] of tagsOf(packed).entries()) tagOfToken.set(`${name} ${tokens[i]}`, tag);
  };
  if (method === "receive") {
    const reply = answer as ReceiveReply;
    if (reply.kind === "received") enter(reply.packed, reply.receipts);
  } else if (method === "pull") {
    const reply = answer as PullReply;
    if (reply.ok) enter(reply.batch.packed, reply.batch.leaseIds);
  } else if (method === "work") {
    for (const reply of (answer as { readonly received?: readonly ReceiveReply[] }).received ?? [])
      if (reply.kind === "received") enter(reply.packed, reply.receipts);
  }
}

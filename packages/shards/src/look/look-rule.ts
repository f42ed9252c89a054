import {
  type LookedAt,
  type LookReply,
  type LookRequest,
  tokenOfQueue,
  tokenOfShard,
} from "@sluice/protocol";
import type { Shards } from "../calls/shards.ts";
import { sumOf } from "../merge/amounts.ts";
import { mergedErrors } from "../merge/errors.ts";
import { readPlaces, type ShardPlace, writeCursor } from "./cursor.ts";

/** Rounds of calls for one page. Each asks for the messages that the rounds before have left room for. */
const ROUNDS_MAX = 4;

/** Part of a list that one shard has. */
interface ShardList {
  readonly shard: number;
  place: ShardPlace;
  /** Ids and refs of the request for this shard; `undefined` for every message. */
  readonly only: readonly string[] | undefined;
  readonly messages: LookedAt[];
  reply: LookReply | null;
  /** Numbers of a shard that has no part in the page. */
  counts: Pick<LookReply, "of" | "finished"> | null;
  matched: number;
  /** Whether its last look has ended for want of time, or of messages. */
  isSpent: boolean;
}

/**
 * Looks at the messages of all shards. Each gives its share of a page, which is in order of time; the next page goes on
 * in each of them. So the order holds within a page, and a message is on one page only. The first page costs a call of
 * each shard; the cursor carries the numbers of those that later ones do not ask.
 */
export async function look(shards: Shards, request: LookRequest): Promise<LookReply> {
  const { max, countsAll = false, isWhole = false, only } = request;
  const places = readPlaces(request.cursor, shards.map.kept);
  const lists = places.map((place, shard): ShardList => {
    const ownOnly = only?.flatMap((name) => nameFor(name, shard, shards.map.kept));
    const isLeftOut = ownOnly !== undefined && ownOnly.length === 0;
    return {
      shard,
      place: isLeftOut ? { ended: 0 } : place,
      only: ownOnly,
      messages: [],
      reply: null,
      counts: null,
      matched: 0,
      isSpent: isLeftOut || "ended" in place,
    };
  });
  const isOne = only?.length === 1;
  let left = max;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const open = lists.filter(({ isSpent }) => !isSpent);
    // A single message may be on any shard. A look that counts goes on to the end and has no next page, so every shard
    // lists a whole page.
    const asksAll = isOne || countsAll;
    if (open.length === 0 || (left <= 0 && !(asksAll && round === 0))) break;
    // Whole bodies of one shard fill the memory that a call has.
    const asked = asksAll ? open : isWhole ? open.slice(0, 1) : open.slice(0, Math.max(1, left));
    const share = asksAll ? max : Math.max(1, Math.floor(left / asked.length));
    const found = await shards.all(async (shard) => {
      const list = asked.find((one) => one.shard === shard);
      return list === undefined ? 0 : lookAtShard(shards, request, list, share);
    });
    left -= sumOf(found, (count) => count);
    if (asksAll) break;
    if (isWhole && lists.some(({ messages }) => messages.length > 0)) break;
  }
  if (only === undefined) await countOthers(shards, request, lists);
  return replyOf(request, lists);
}

/** Counts the messages of the shards that have no part in the page, where the cursor does not say their number. */
async function countOthers(
  shards: Shards,
  { filter }: LookRequest,
  lists: readonly ShardList[],
): Promise<void> {
  await shards.all(async (shard) => {
    const list = lists[shard];
    if (list === undefined || list.reply !== null || "ended" in list.place || "held" in list.place) return;
    const request = { max: 0, only: [], ...(filter === undefined ? {} : { filter }) };
    list.counts = await shards.call(shard, "look", request);
    if (list.place.at === null) list.place = { at: null, held: list.counts.of };
  });
}

/** Asks one shard, and returns how many messages it has listed. */
async function lookAtShard(
  shards: Shards,
  request: LookRequest,
  list: ShardList,
  max: number,
): Promise<number> {
  const { cursor: _, only: all, ...rest } = request;
  const at = "at" in list.place ? list.place.at : null;
  const reply = await shards.call(list.shard, "look", {
    ...rest,
    max,
    ...(at === null ? {} : { cursor: at }),
    ...(list.only === undefined ? {} : { only: list.only }),
  });
  // A shard that is asked for a single message looks among finished ones too; the queue was asked for several.
  const isOfFinished = all !== undefined && all.length > 1 && list.only?.length === 1;
  const messages = isOfFinished ? reply.messages.filter(({ end }) => end === undefined) : reply.messages;
  list.messages.push(
    ...messages.map((message) => ({ ...message, ref: tokenOfQueue(message.ref, list.shard) })),
  );
  list.reply = reply;
  list.matched += reply.matched - (reply.messages.length - messages.length);
  list.place = reply.cursor === null ? { ended: reply.of } : { at: reply.cursor };
  list.isSpent = reply.cursor === null || messages.length < max;
  return messages.length;
}

function replyOf({ max, countsErrors = false, only }: LookRequest, lists: readonly ShardList[]): LookReply {
  const replies = lists.flatMap(({ reply }) => reply ?? []);
  const finished = lists.flatMap(({ reply, counts }) => (reply ?? counts)?.finished ?? []);
  const isPart = only === undefined && lists.some(({ reply, counts }) => reply === null && counts === null);
  const messages = lists.flatMap((list) => list.messages).sort(byTime);
  const nowMs = replies.flatMap((reply) => reply.nowMs ?? []);
  return {
    messages: messages.slice(0, max),
    matched: sumOf(lists, ({ matched }) => matched),
    cursor: writeCursor(lists.map(({ place }) => place)),
    searched: sumOf(lists, searchedOf),
    of: sumOf(lists, heldBy),
    ...(countsErrors ? { errors: mergedErrors(replies.flatMap(({ errors }) => errors ?? [])) } : {}),
    ...(nowMs.length === 0 ? {} : { nowMs: Math.max(...nowMs) }),
    // Without the numbers of all shards the sum is that of no queue.
    ...(finished.length === 0 || isPart ? {} : { finished: sumOf(finished, (count) => count) }),
  };
}

function heldBy({ place, reply, counts }: ShardList): number {
  return (reply ?? counts)?.of ?? ("ended" in place ? place.ended : (place.held ?? 0));
}

function searchedOf({ place, reply }: ShardList): number {
  if (reply !== null) return reply.searched;
  if ("ended" in place) return place.ended;
  return Number(/\d+$/.exec(place.at ?? "")?.[0] ?? 0);
}

/** Oldest first by when the queue took them in; finished ones newest first, behind the others. */
function byTime(a: LookedAt, b: LookedAt): number {
  if (a.end === undefined || b.end === undefined) {
    return Number(a.end !== undefined) - Number(b.end !== undefined) || a.keptUntilMs - b.keptUntilMs;
  }
  return b.end.atMs - a.end.atMs;
}

/**
 * Returns the name of a message for a shard: an id for every shard, a ref for its own shard as that made it.
 *
 * @param kept how many shards there are, of which the first one says that a text names none. Default: no shard does.
 */
export function nameFor(name: string, shard: number, kept = Number.POSITIVE_INFINITY): string[] {
  if (/^[0-9a-f]{32}$/i.test(name.replaceAll("-", ""))) return [name];
  const { token, shard: own } = tokenOfShard(name);
  // A text that names no shard names no message either, which a shard has to say.
  if (own >= kept) return shard === 0 ? [name] : [];
  return own === shard ? [token] : [];
}

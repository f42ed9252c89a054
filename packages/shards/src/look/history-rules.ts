import {
  type HistoryEvent,
  type HistoryReply,
  type HistoryRequest,
  type MessageElsewhere,
  NAMED_IDS_MAX,
  type QueueFigures,
  type StoryGap,
  type StoryReply,
  shardOf,
  type WatchReply,
  type WatchRequest,
} from "@sluice/protocol";
import type { Shards } from "../calls/shards.ts";
import { oldestOf, sumOf, sumOfCounts, sumOfLists, withoutRepeats } from "../merge/amounts.ts";
import { mergedHealth, mergedRates } from "../merge/description.ts";
import { readPlaces, type ShardPlace, writeCursor } from "./cursor.ts";

/** Factor that makes room for the number of a shard: more than `SHARDS_MAX`. */
const SHARD_ROOM = 128;
/**
 * Numbers of events that are told apart. A start of an object has a range of at most 2^32 numbers (`firstIdOf` of the
 * engine), so two events with the same rest are at least 8,192 starts apart.
 */
const NUMBERS = 2 ** 45;

/**
 * Makes the number of a shard's event or delivery unique over all shards. It does not order events of several shards:
 * their times do.
 */
export function numberOfQueue(number: number, shard: number): number {
  return (number % NUMBERS) * SHARD_ROOM + shard;
}

/** Shows an event of a shard as one of the queue. */
export function eventOfQueue(event: HistoryEvent, shard: number): HistoryEvent {
  return {
    ...event,
    number: numberOfQueue(event.number, shard),
    queue: shardOf(event.queue).queue,
    by: event.by === null ? null : withoutShard(event.by),
    to: event.to === null ? null : withoutShard(event.to),
    batch: event.batch === null ? null : numberOfQueue(event.batch, shard),
  };
}

/** Name of the queue where an actor is a shard; a Worker's or a client's name stays. */
function withoutShard(name: string): string {
  return /#\d{1,2}$/.test(name) ? shardOf(name).queue : name;
}

/**
 * Lists the events of all shards, newest first. `before` is a cursor from before the queue had shards, a number of
 * shard 0.
 */
export async function history(shards: Shards, request: HistoryRequest): Promise<HistoryReply> {
  const { cursor, before, max, ...rest } = request;
  const places = readPlaces(cursor ?? before?.toString(), shards.map.kept);
  const replies = await shards.all(async (shard) => {
    const place = places[shard] ?? { at: null };
    if ("ended" in place) return null;
    return shards.call(shard, "history", {
      ...rest,
      max,
      ...(place.at === null ? {} : { before: Number(place.at) }),
    });
  });
  const found = replies.flatMap((reply, shard) => reply?.events.map((event) => ({ shard, event })) ?? []);
  const shown = found
    .sort((a, b) => b.event.atMs - a.event.atMs || b.event.number - a.event.number)
    .slice(0, max);
  const next = replies.map((reply, shard): ShardPlace => {
    if (reply === null) return { ended: 0 };
    const own = shown.filter((one) => one.shard === shard);
    if (own.length === reply.events.length) {
      return reply.next === null ? { ended: 0 } : { at: String(reply.next) };
    }
    const last = own.at(-1);
    return last === undefined ? (places[shard] ?? { at: null }) : { at: String(last.event.number) };
  });
  const after = writeCursor(next);
  return {
    isOn: replies.some((reply) => reply?.isOn ?? false),
    events: shown.map(({ shard, event }) => eventOfQueue(event, shard)),
    next: null,
    ...(after === null ? {} : { cursor: after }),
  };
}

/** Makes the story of a message from the shard that has it; from several shards, all events in order of time. */
export async function story(shards: Shards, id: string): Promise<StoryReply> {
  const replies = await shards.all((shard) => shards.call(shard, "story", id));
  const known = replies.flatMap((reply, shard) => (reply.events.length === 0 ? [] : [{ reply, shard }]));
  const parts = known.length > 0 ? known : replies.map((reply, shard) => ({ reply, shard }));
  const traceId = parts.find(({ reply }) => reply.traceId !== undefined)?.reply.traceId;
  return {
    events: parts
      .flatMap(({ reply, shard }) => reply.events.map((event) => eventOfQueue(event, shard)))
      .sort((a, b) => a.atMs - b.atMs),
    gaps: withoutRepeats(
      parts.flatMap(({ reply, shard }) => reply.gaps.map((gap) => gapOfQueue(gap, shard))),
    ),
    before: elsewhere(parts.map(({ reply }) => reply.before)),
    after: elsewhere(parts.map(({ reply }) => reply.after)),
    ...(traceId === undefined ? {} : { traceId }),
  };
}

function gapOfQueue(gap: StoryGap, shard: number): StoryGap {
  const { after } = gap;
  return {
    ...gap,
    queue: shardOf(gap.queue).queue,
    ...(after === undefined ? {} : { after: numberOfQueue(after, shard) }),
  };
}

function elsewhere(places: readonly (MessageElsewhere | null)[]): MessageElsewhere | null {
  const place = places.find((one) => one !== null) ?? null;
  return place === null ? null : { ...place, queue: withoutShard(place.queue) };
}

/** Lists ids that begin so, taking turns between the shards: each lists its newest first. */
export async function idsNamed(shards: Shards, prefix: string): Promise<readonly string[]> {
  const lists = await shards.all((shard) => shards.call(shard, "idsNamed", prefix));
  const inTurn = Array.from({ length: NAMED_IDS_MAX }, (_, i) => lists.flatMap((list) => list[i] ?? []));
  return withoutRepeats(inTurn.flat()).slice(0, NAMED_IDS_MAX);
}

/** How far a watch has seen each shard. A text of its JSON is the `state` of an answer. */
type Seen = readonly { readonly last: number; readonly state: string }[];

/**
 * Answers when something has happened on one shard, with the figures and events of all. Calls that still wait at the
 * others end with the next event there, and their answers are dropped.
 */
export async function watch(shards: Shards, request: WatchRequest): Promise<WatchReply> {
  const seen = seenIn(request.state);
  const kinds = request.kinds === undefined ? {} : { kinds: request.kinds };
  const isKnown = seen !== null && seen.length === shards.map.kept;
  if (isKnown) {
    await Promise.race(
      seen.map(({ last, state }, shard) => shards.call(shard, "watch", { after: last, state, ...kinds })),
    );
  }
  const replies = await shards.all((shard) =>
    // A shard that the caller has not seen is a new one, of which every event is new.
    shards.call(shard, "watch", {
      after: seen === null ? null : (seen[shard]?.last ?? 0),
      state: null,
      ...kinds,
    }),
  );
  return {
    state: JSON.stringify(replies.map(({ last, state }) => ({ last, state }))),
    last: sumOf(replies, ({ last }) => last),
    figures: figuresOfAll(replies.map(({ figures }) => figures)),
    events: replies
      .flatMap(({ events }, shard) => events.map((event) => eventOfQueue(event, shard)))
      .sort((a, b) => a.atMs - b.atMs),
    // Without its state a caller that has seen events has lost its place in each shard.
    isGap: (seen === null && request.after !== null) || replies.some(({ isGap }) => isGap),
  };
}

function seenIn(state: string | null): Seen | null {
  try {
    const seen = JSON.parse(state ?? "null") as unknown;
    return Array.isArray(seen) ? (seen as Seen) : null;
  } catch {
    // State of a watch from before the queue had shards.
    return null;
  }
}

function figuresOfAll(parts: readonly QueueFigures[]): QueueFigures {
  const rates = parts.flatMap((part) => part.rates ?? []);
  const health = parts.flatMap(({ consumer }) => (consumer === undefined ? [] : [consumer]));
  return {
    nowMs: Math.max(...parts.map(({ nowMs }) => nowMs)),
    ready: sumOf(parts, ({ ready }) => ready),
    delayed: sumOf(parts, ({ delayed }) => delayed),
    leased: sumOf(parts, ({ leased }) => leased),
    backlogBytes: sumOf(parts, ({ backlogBytes }) => backlogBytes),
    oldestMessageTimestampMs: oldestOf(parts),
    isOn: parts.some(({ isOn }) => isOn),
    totals: sumOfCounts(parts.map(({ totals }) => totals)),
    tookMs: sumOfLists(parts.map(({ tookMs }) => tookMs)),
    ...(rates.length === 0 ? {} : { rates: mergedRates(rates) }),
    ...(health.length === 0 ? {} : { consumer: mergedHealth(health) }),
  };
}

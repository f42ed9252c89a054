import { HISTORY_IDS_MAX, type HistoryEvent, type MessageElsewhere, type StoryReply } from "@sluice/protocol";
import { ID_LENGTH, idsIn, NO_TRACE, rangeOf, type StoredEvent } from "../journal/event.ts";
import { type GapFacts, gapsOf, isEnd, isSend } from "./story-gaps.ts";
import { waitsOf } from "./story-waits.ts";

/** Place of a message in its queue. */
export type Place = readonly [segmentId: number, index: number];

/** Facts of which the story of a message in a queue is made. Events are oldest first. */
export interface Known extends Omit<GapFacts, "attempts" | "isGone"> {
  readonly id: string;
  /** Pauses, resumptions and moves of the clock. */
  readonly ofQueue: readonly StoredEvent[];
  readonly places: readonly Place[];
  /** Whether a message is in the queue. */
  readonly isHere: (place: Place) => boolean;
  /** Makes the event that a client gets. */
  readonly shown: (event: StoredEvent) => HistoryEvent;
}

/** Finds the position of a message in an event: `unknown` if the event gives no position, `null` if it lacks the id. */
export function positionIn({ ids, at }: StoredEvent, id: string): Place | "unknown" | null {
  const place = placeOf(ids, id);
  if (place === -1) return null;
  let before = 0;
  for (let i = 0; at !== undefined && i < at.length; i += 3) {
    const [segmentId = 0, from = 0, to = 0] = at.slice(i, i + 3);
    if (place < before + to - from) return [segmentId, from + place - before];
    before += to - from;
  }
  return "unknown";
}

/** Tells the story of one message of a queue. */
export function storyOf(known: Known): StoryReply {
  const { id, ofQueue, places, isHere, shown } = known;
  const { events, merged } = withPurge(known);
  const attempts = events.map((event) => attemptOf(event, places));
  const own = events.map((event, i): HistoryEvent => {
    const place = placeOf(event.ids, id);
    const otherId = idAt(event.otherIds, place);
    return {
      ...shown(event),
      ids: [id],
      otherIds: otherId === null ? [] : [otherId],
      attempt: attempts[i] ?? null,
      past: event.pasts?.[place] ?? null,
      ...waitsOf(events[i - 1], event, ofQueue),
    };
  });
  const traceId = events
    .map((event) => idAt(event.traces, placeOf(event.ids, id)))
    .findLast((trace) => trace !== null && trace !== NO_TRACE);
  return {
    events: own,
    ...(traceId == null ? {} : { traceId }),
    gaps: gapsOf({ ...known, events, merged, attempts, isGone: places.length > 0 && !places.some(isHere) }),
    before: cameFrom(own),
    after: wentTo(own),
  };
}

/** Adds that the message was purged with all others, for certain or perhaps. */
function withPurge({ events, merged, ofQueue }: Known): Pick<Known, "events" | "merged"> {
  const [first] = events;
  if (first === undefined) return { events, merged };
  const purges = ofQueue.filter(({ kind }) => kind === "purged");
  // A delivery may end after its message was purged. So if the send was merged, a purge before the first event counts.
  const sent = isSend(first) ? undefined : merged.find(({ kind }) => kind === "accepted");
  const earlier = purges.filter(({ n }) => sent !== undefined && n > sent.n && n < first.n);
  const perhaps = [...merged, ...earlier].sort((a, b) => a.n - b.n);
  const purge = purges.find(({ n }) => n > first.n);
  if (purge === undefined || events.some((event) => isEnd(event) && event.n < purge.n))
    return { events, merged: perhaps };
  const isElseGone = earlier.length > 0 || merged.some(({ kind, n }) => kind === "acked" && n < purge.n);
  return isElseGone
    ? { events, merged: [...perhaps, purge] }
    : { events: [...events, purge].sort((a, b) => a.n - b.n), merged: perhaps };
}

/** Returns the attempt of the message; `null` where the event only has that of another one. */
function attemptOf(event: StoredEvent, places: readonly Place[]): number | null {
  const { at = [], attempt = null, attempts } = event;
  if (attempts === undefined) return at.length === 3 ? attempt : null;
  const [range = -1] = places.map((place) => rangeOf(event, ...place)).filter((found) => found !== -1);
  return attempts[range] ?? null;
}

function cameFrom(events: readonly HistoryEvent[]): MessageElsewhere | null {
  const end = events.find(({ kind }) => kind === "arrived")?.past?.ends.at(-1);
  return end === undefined ? null : { queue: end.queue, id: end.id };
}

function wentTo(events: readonly HistoryEvent[]): MessageElsewhere | null {
  const end = events.findLast(({ kind }) => kind === "deadLettered" || kind === "redriven");
  if (end === undefined || end.to === null) return null;
  const id = end.otherIds[0] ?? end.ids[0];
  return id === undefined ? null : { queue: end.to, id };
}

/** Makes the event that a client gets. @param error the whole text of its error. */
export function eventOf(queue: string, event: StoredEvent, error: string | null): HistoryEvent {
  const { n, kind, t, count, ids = "", otherIds = "", merged } = event;
  return {
    number: n,
    kind,
    atMs: t,
    queue,
    messages: count,
    ids: idsIn(ids.slice(0, HISTORY_IDS_MAX * ID_LENGTH)),
    by: event.by ?? null,
    to: event.to ?? null,
    otherIds: idsIn(otherIds.slice(0, HISTORY_IDS_MAX * ID_LENGTH)),
    batch: event.batch ?? null,
    attempt: event.attempt ?? null,
    delayMs: event.delayMs ?? null,
    delayReason: event.delay ?? null,
    error,
    tookMs: event.tookMs ?? null,
    merged: merged === undefined ? null : { ...merged, tookMs: merged.tookMs ?? null },
    past: null,
    ...(event.logs === undefined ? {} : { logs: event.logs }),
  };
}

/** Finds the place of an id among joined ids; -1 if it is not there. */
function placeOf(ids: string | undefined, id: string): number {
  for (let at = ids?.indexOf(id) ?? -1; at !== -1; at = ids?.indexOf(id, at + 1) ?? -1) {
    if (at % ID_LENGTH === 0) return at / ID_LENGTH;
  }
  return -1;
}

function idAt(ids: string | undefined, place: number): string | null {
  const id = ids?.slice(place * ID_LENGTH, (place + 1) * ID_LENGTH) ?? "";
  return id.length === ID_LENGTH && place >= 0 ? id : null;
}

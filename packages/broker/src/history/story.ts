import {
  HISTORY_IDS_MAX,
  type HistoryEvent,
  type MessageElsewhere,
  type StoryGap,
  type StoryReply,
} from "@sluice/protocol";
import { ID_LENGTH, idsIn, type StoredEvent } from "./event.ts";

/** Facts of which the story of a message in a queue is made. */
export interface Known {
  readonly queue: string;
  readonly id: string;
  readonly isOn: boolean;
  /** Oldest first. */
  readonly events: readonly StoredEvent[];
  /** Makes the event that a client gets. */
  readonly shown: (event: StoredEvent) => HistoryEvent;
  /** Time in ms before which events were overwritten; `null` if none were. */
  readonly keptSinceMs: number | null;
}

/** Finds the position of a message in an event: `unknown` if the event gives no position, `null` if it lacks the id. */
export function positionIn({ ids, at }: StoredEvent, id: string): [number, number] | "unknown" | null {
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
export function storyOf({ queue, id, isOn, events, shown, keptSinceMs }: Known): StoryReply {
  const own = events.map((event): HistoryEvent => {
    const place = placeOf(event.ids, id);
    const otherId = idAt(event.otherIds, place);
    return {
      ...shown(event),
      ids: [id],
      otherIds: otherId === null ? [] : [otherId],
      past: event.pasts?.[place] ?? null,
    };
  });
  const isMerged = events.some(({ merged }) => merged !== undefined);
  const isUnknown = isOn && events.length === 0;
  const isSendKnown = own.some(({ kind }) => kind === "accepted" || kind === "arrived");
  const gaps: StoryGap[] = [
    ...(isOn ? [] : [{ queue, reason: "off" as const, untilMs: null }]),
    ...(isUnknown ? [{ queue, reason: "unknown" as const, untilMs: null }] : []),
    ...(isMerged ? [{ queue, reason: "merged" as const, untilMs: null }] : []),
    ...(keptSinceMs === null || isSendKnown
      ? []
      : [{ queue, reason: "overwritten" as const, untilMs: keptSinceMs }]),
  ];
  return { events: own, gaps, before: cameFrom(own), after: wentTo(own) };
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

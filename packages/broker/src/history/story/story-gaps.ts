import type { HistoryKind, StoryGap } from "@sluice/protocol";
import type { StoredEvent } from "../journal/event.ts";

/** Facts of which the gaps of a story are found. Events are oldest first. */
export interface GapFacts {
  readonly queue: string;
  readonly isOn: boolean;
  /** Events of the message. */
  readonly events: readonly StoredEvent[];
  /** Attempt of the message at each of these; `null` where it is not known. */
  readonly attempts: readonly (number | null)[];
  /** Merged events that may include the message: they are not told in its story, but explain its gaps. */
  readonly merged: readonly StoredEvent[];
  /** Time in ms before which events are not kept any more; `null` if all are kept. */
  readonly keptSinceMs: number | null;
  /** Whether the message is known not to be in the queue any more. */
  readonly isGone: boolean;
}

/** Time between two events of a message, or before the first, or after the last, in which a merged one may lie. */
interface Span {
  /** Number of the message's events before it. */
  readonly place: number;
  readonly kind: HistoryKind;
  readonly sinceMs: number;
  readonly untilMs: number;
}

const ENDS: readonly HistoryKind[] = [
  ...(["acked", "deadLettered", "dropped", "redriven", "expired", "deleted", "purged"] as const),
];
/** Kinds of events after which a delivery is still under way, or has its end noted. */
const OF_DELIVERY: readonly HistoryKind[] = ["delivered", "printed", "faulted", "failed"];

/** Whether a message is gone from its queue after an event. */
export function isEnd({ kind }: StoredEvent): boolean {
  return ENDS.includes(kind);
}

/** Finds where the story of a message may lack events, and why. */
export function gapsOf(facts: GapFacts): StoryGap[] {
  const { queue, isOn, events } = facts;
  const explained = [...overwrittenIn(facts), ...mergedIn(facts)];
  const known = [...explained, ...lostIn(facts, explained)];
  if (!isOn) return [{ queue, reason: "off", untilMs: null }, ...known];
  const [first] = events;
  const isSendLost = first !== undefined && !isSend(first) && known.every(({ after }) => after !== undefined);
  if (isSendLost) return [{ queue, reason: "unknown", untilMs: first.t }, ...known];
  return first === undefined && known.length === 0 ? [{ queue, reason: "unknown", untilMs: null }] : known;
}

/**
 * Finds what a crash has lost, besides the send: a delivery whose attempt is missing, or that was cut off, and the end
 * of a message that is gone. What another gap may explain is left out.
 */
function lostIn({ queue, events, attempts, isGone }: GapFacts, explained: readonly StoryGap[]): StoryGap[] {
  const isExplained = (from: StoredEvent, to: StoredEvent | undefined) =>
    explained.some(({ reason, after = -1, untilMs }) =>
      reason === "overwritten"
        ? (untilMs ?? Infinity) >= from.t
        : after >= from.n && after < (to?.n ?? Infinity),
    );
  const gaps: StoryGap[] = [];
  const add = (before: StoredEvent, after: StoredEvent | undefined) =>
    gaps.push({ queue, reason: "unknown", sinceMs: before.t, untilMs: after?.t ?? null, after: before.n });
  let last: { readonly event: StoredEvent; readonly attempt: number } | null = null;
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    const attempt = attempts[i] ?? null;
    if (isSend(event)) last = null;
    const isNext = event.kind === "delivered" ? 1 : 0;
    const isMissing = last !== null && attempt !== null && attempt > last.attempt + isNext;
    const isCutOff = event.delay === "restart" && before !== undefined && !OF_DELIVERY.includes(before.kind);
    if (before !== undefined && (isMissing || isCutOff) && !isExplained(last?.event ?? before, event))
      add(before, event);
    if (isCutOff && last !== null) last = { event, attempt: last.attempt + 1 };
    if (attempt !== null && attempt >= (last?.attempt ?? 0)) last = { event, attempt };
  }
  const end = events.at(-1);
  const isEnded = events.findLastIndex(isEnd) > events.findLastIndex(isSend);
  if (end !== undefined && isGone && !isEnded && !isExplained(end, undefined)) add(end, undefined);
  return gaps;
}

function overwrittenIn({ queue, events, keptSinceMs }: GapFacts): StoryGap[] {
  if (keptSinceMs === null) return [];
  const [first] = events;
  if (first === undefined || !isSend(first)) {
    return [{ queue, reason: "overwritten", sinceMs: null, untilMs: keptSinceMs }];
  }
  if (first.t >= keptSinceMs) return [];
  const untilMs = Math.min(keptSinceMs, events.find(isEnd)?.t ?? Infinity);
  return [{ queue, reason: "overwritten", sinceMs: first.t, untilMs, after: first.n }];
}

function mergedIn(facts: GapFacts): StoryGap[] {
  const { queue, events, merged } = facts;
  const spans = events.length === 0 ? unknownSpans(merged) : merged.flatMap((merge) => spansOf(merge, facts));
  return [...Map.groupBy(spans, ({ place }) => place)]
    .sort(([a], [b]) => a - b)
    .map(([place, own]) => ({
      queue,
      reason: "merged",
      ...(place === 0 ? {} : { after: events[place - 1]?.n ?? 0 }),
      sinceMs: Math.min(...own.map(({ sinceMs }) => sinceMs)),
      untilMs: Math.max(...own.map(({ untilMs }) => untilMs)),
      kinds: [...new Set(own.map(({ kind }) => kind))],
    }));
}

/** Nothing names the message: if it was here, its send is among those that were merged. */
function unknownSpans(merged: readonly StoredEvent[]): Span[] {
  const first = merged.findIndex(({ kind }) => kind === "accepted");
  const rest = first === -1 ? [] : merged.slice(first);
  return rest.map(({ kind, t, merged: of }) => ({ place: 0, kind, sinceMs: t, untilMs: of?.untilMs ?? t }));
}

/** Finds where a merged event may lie in the story of a message: there is one send, and nothing after its end. */
function spansOf({ kind, t, merged }: StoredEvent, { events, attempts }: GapFacts): Span[] {
  const spans: Span[] = [];
  const end = events.findIndex(isEnd);
  for (let place = 0; place <= (end === -1 ? events.length : end); place++) {
    const [before, after] = [events[place - 1], events[place]];
    if (!isPossible(kind, before, after)) continue;
    const attempt = attempts.slice(0, place).findLast((each) => each !== null) ?? 0;
    const isNext = after?.kind === "delivered" && (attempts[place] ?? Infinity) <= attempt + 1;
    if (kind === "delivered" && isNext) continue;
    const sinceMs = Math.max(t, before?.t ?? -Infinity);
    const untilMs = Math.min(merged?.untilMs ?? t, after?.t ?? Infinity);
    if (sinceMs <= untilMs) spans.push({ place, kind, sinceMs, untilMs });
  }
  return spans;
}

function isPossible(
  kind: HistoryKind,
  before: StoredEvent | undefined,
  after: StoredEvent | undefined,
): boolean {
  if (after !== undefined && isSend(after)) return false;
  if (kind === "accepted") return before === undefined;
  if (kind === "acked") return after === undefined;
  if (kind === "purged") return true;
  // The event after a failure is the end of the same delivery.
  if (before?.kind === "failed" && after !== undefined) return false;
  return before?.kind !== "delivered" || before.batch === undefined || before.batch !== after?.batch;
}

/** Whether a message comes into its queue by an event. */
export function isSend({ kind }: StoredEvent): boolean {
  return kind === "accepted" || kind === "arrived";
}

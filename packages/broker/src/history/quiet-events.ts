import type { HistoryKind } from "@sluice/protocol";
import { noTook, tookClassOf } from "./figures/totals.ts";
import type { NotedEvent, Positions, StoredEvent, StoredMerge } from "./journal/event.ts";
import { ROW_TEXT_FULL } from "./journal/journal.ts";

/**
 * Text of quiet events that are noted one by one in a second, in UTF-16 units: that of ten rows. So the first messages
 * of a second have whole stories: some 400 that come and go one by one, 2,000 in batches of 100.
 */
export const QUIET_UNITS_PER_SECOND_MAX = 10 * ROW_TEXT_FULL;
/** Units of an event beside its ids and places, and of a number of a place. About what they take in a row. */
const EVENT_UNITS = 110;
const PLACE_UNITS = 4;

/** Most messages of one event: sends and acknowledgements that come one by one are joined up to here. */
const JOINED_MAX = 100;

const SECOND_MS = 1_000;

/** Quiet event: its kind, and the facts that merging uses. */
export interface QuietFacts {
  readonly kind: Extract<HistoryKind, "accepted" | "delivered" | "printed" | "acked">;
  readonly by: string | null;
  readonly count: number;
  /** Positions in ascending order. */
  readonly at: Positions;
  /** Duration of the delivery, in ms. */
  readonly tookMs?: number;
}

interface Merging {
  readonly n: number;
  readonly facts: QuietFacts;
  readonly t: number;
  untilMs: number;
  count: number;
  events: number;
  /** [segment, index] of the first message and of the end of the last. */
  first: readonly [number, number];
  end: readonly [number, number];
  tookMs: number[] | null;
}

type Joinable = { -readonly [Name in keyof StoredEvent]: StoredEvent[Name] };

/**
 * Quiet events that wait to be written. Beyond `QUIET_UNITS_PER_SECOND_MAX` they are merged by kind, producer or
 * consumer (`by`), and second: one second of a busy queue would otherwise overwrite the seconds before it. Pure.
 */
export class QuietEvents {
  #events: Joinable[] = [];
  readonly #merging = new Map<string, Merging>();
  readonly #unitsMax: number;
  #second = -1;
  /** Whether further messages may join the last event: nothing was numbered since. */
  #isOpen = false;
  /** Units of the events of this second. */
  #used = 0;

  constructor(unitsMax = QUIET_UNITS_PER_SECOND_MAX) {
    this.#unitsMax = unitsMax;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#merging.size === 0;
  }

  /**
   * Adds an event, by itself or merged with others.
   *
   * @param nextNumber numbers an event. Called unless the event is merged with an earlier one.
   * @param detail makes members that only an event by itself has. Called only for such an event.
   */
  note(nowMs: number, facts: QuietFacts, nextNumber: () => number, detail: () => Partial<NotedEvent>): void {
    const second = Math.floor(nowMs / SECOND_MS);
    if (second !== this.#second) {
      this.#close();
      this.#second = second;
      this.#used = 0;
    }
    if (this.#used >= this.#unitsMax) {
      this.#merge(nowMs, facts, nextNumber);
      return;
    }
    const { kind, by, count, at, tookMs } = facts;
    const more = detail();
    const isJoined = this.#join(nowMs, facts, more);
    // What is printed takes no room of the events of messages.
    if (kind !== "printed") this.#used += unitsOf({ at, ...more }, isJoined);
    if (isJoined) return;
    this.#isOpen = true;
    this.#events.push({
      n: nextNumber(),
      kind,
      t: nowMs,
      count,
      at,
      ...(by === null ? {} : { by }),
      ...(tookMs === undefined ? {} : { tookMs }),
      ...more,
    });
  }

  /** Closes the last event, since another one is numbered: messages that come later do not join an event before it. */
  seal(): void {
    this.#isOpen = false;
  }

  /** Lists the events in the order of their numbers. */
  peek(): StoredEvent[] {
    return [...this.#events, ...[...this.#merging.values()].map(storedOf)].sort((a, b) => a.n - b.n);
  }

  /** Takes the events, as `peek` lists them. Later events of the same second are merged anew. */
  take(): StoredEvent[] {
    const events = this.peek();
    this.#events = [];
    this.#merging.clear();
    return events;
  }

  /** Joins sends, or acknowledgements, of one moment that come one by one into one event. @returns whether it did. */
  #join(nowMs: number, { kind, by, count, at }: QuietFacts, more: Partial<NotedEvent>): boolean {
    const last = this.#isOpen ? this.#events.at(-1) : undefined;
    if (last === undefined || last.kind !== kind || last.t !== nowMs || last.by !== (by ?? undefined))
      return false;
    if (last.count + count > JOINED_MAX) return false;
    const { ids, delayMs, delay } = more;
    const isAlikeSend = kind === "accepted" && last.delayMs === delayMs && last.delay === delay;
    const isAlikeEnd = kind === "acked" && last.batch === undefined && Object.keys(more).length === 0;
    if (!isAlikeSend && !isAlikeEnd) return false;
    last.count += count;
    last.at = [...(last.at ?? []), ...at];
    if (ids !== undefined) last.ids = (last.ids ?? "") + ids;
    return true;
  }

  #merge(nowMs: number, facts: QuietFacts, nextNumber: () => number): void {
    const { kind, by, count, at, tookMs } = facts;
    const key = `${kind} ${by}`;
    let merging = this.#merging.get(key);
    const first = [at[0] ?? 0, at[1] ?? 0] as const;
    const end = [at.at(-3) ?? 0, at.at(-1) ?? 0] as const;
    if (merging === undefined) {
      merging = {
        n: nextNumber(),
        facts,
        t: nowMs,
        untilMs: nowMs,
        count: 0,
        events: 0,
        first,
        end,
        tookMs: null,
      };
      this.#merging.set(key, merging);
    }
    merging.untilMs = nowMs;
    merging.count += count;
    merging.events += 1;
    if (isBefore(first, merging.first)) merging.first = first;
    if (isBefore(merging.end, end)) merging.end = end;
    if (tookMs === undefined) return;
    merging.tookMs ??= noTook();
    const place = tookClassOf(tookMs);
    merging.tookMs[place] = (merging.tookMs[place] ?? 0) + 1;
  }

  #close(): void {
    for (const merging of this.#merging.values()) this.#events.push(storedOf(merging));
    this.#merging.clear();
  }
}

/** Estimates the units that an event takes in a row. @param isJoined whether it is a part of another one there. */
export function unitsOf({ at = [], ids = "" }: Partial<NotedEvent>, isJoined = false): number {
  return (isJoined ? 0 : EVENT_UNITS) + ids.length + PLACE_UNITS * at.length;
}

function storedOf({ n, facts, t, untilMs, count, events, first, end, tookMs }: Merging): StoredEvent {
  const { kind, by } = facts;
  const merged: StoredMerge = { untilMs, events, ...(tookMs === null ? {} : { tookMs }) };
  // Two empty ranges stand for all messages between them: see `covers`.
  const at = [first[0], first[1], first[1], end[0], end[1], end[1]];
  return { n, kind, t, count, at, ...(by === null ? {} : { by }), merged };
}

function isBefore(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

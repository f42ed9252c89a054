import type { HistoryKind } from "@sluice/protocol";
import type { NotedEvent, Positions, StoredEvent, StoredMerge } from "./event.ts";
import { noTook, tookClassOf } from "./totals.ts";

/**
 * Most messages of quiet events that are noted one by one in a second. With three events for each message, the first
 * 333 messages of a second have whole stories.
 */
export const QUIET_PER_SECOND_MAX = 1_000;

/** Most messages of one event: acknowledgements that come one by one are joined up to here. */
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
 * Quiet events that wait to be written. Beyond `QUIET_PER_SECOND_MAX` they are merged by kind, peer and second, because
 * one second of a busy queue would otherwise overwrite the seconds before it. Pure.
 */
export class QuietEvents {
  #events: Joinable[] = [];
  readonly #merging = new Map<string, Merging>();
  #second = -1;
  #used = 0;

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
    if (this.#used >= QUIET_PER_SECOND_MAX) {
      this.#merge(nowMs, facts, nextNumber);
      return;
    }
    // What is printed takes no room of the events of messages.
    if (facts.kind !== "printed") this.#used += facts.count;
    const { kind, by, count, at, tookMs } = facts;
    const more = detail();
    if (this.#join(nowMs, facts, more)) return;
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

  /** Joins acknowledgements of one moment into one event. @returns whether it did. */
  #join(nowMs: number, { kind, by, count, at }: QuietFacts, more: Partial<NotedEvent>): boolean {
    const last = this.#events.at(-1);
    if (kind !== "acked" || last?.kind !== kind || Object.keys(more).length > 0) return false;
    if (last.t !== nowMs || last.by !== (by ?? undefined) || last.batch !== undefined) return false;
    if (last.count + count > JOINED_MAX) return false;
    last.count += count;
    last.at = [...(last.at ?? []), ...at];
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

import {
  FIGURES_MARKS_MAX,
  FIGURES_WINDOWS,
  type FiguresMark,
  type FiguresReply,
  type FiguresRequest,
  type HistoryKind,
  type QueueRates,
} from "@sluice/protocol";
import type { JournalHead, JournalRows } from "../../store/store.ts";
import type { WrittenRow } from "../journal/journal.ts";
import {
  addBucket,
  addEvent,
  addLevel,
  addMarks,
  addTime,
  addTook,
  type Bucket,
  CLOCK_MOVED_MS_MIN,
  copyOf,
  type Level,
  newBucket,
} from "./bucket.ts";
import { columnsOf } from "./columns.ts";
import { Minutes } from "./minutes.ts";
import { SECONDS_KEPT, secondsAndMinutes } from "./seconds.ts";

/** Kinds of events that a chart marks. Those of the clock come from the clock itself. */
const MARKED: readonly string[] = ["paused", "resumed", "faulted"];

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** How far a rate looks back, in ms. */
export const RATE_MS = 5_000;

/** Parts of a queue that its figures use. */
export interface FiguresPorts {
  readonly nowMs: number;
  /** Time by which the clock was moved forward in this epoch, in ms. */
  readonly movedMs: number;
  readonly level: Level;
  readonly store: Pick<JournalRows, "readJournal">;
  heads(): Iterable<JournalHead>;
}

/**
 * Figures of a queue over time: by the second in memory, for as many seconds with an event as a short window has, and
 * by the minute in rows. What is noted waits in memory until `take`.
 */
export class Figures {
  readonly #ports: FiguresPorts;
  /** Oldest first. */
  readonly #seconds: Bucket[] = [];
  /** Minutes, or what was added to them, since the rows were taken last; oldest first. */
  #minutes: Bucket[] = [];
  /** Messages by kind of event, since the last turn ended. */
  readonly #noted = new Map<HistoryKind, number>();
  #isChanged = false;
  /** How much of `movedMs` of the clock is in a bucket, and the time of the latest look at it. */
  #movedMs = 0;
  #lookedMs = 0;
  /** When this epoch began to note events, in ms; `null` before. */
  #sinceMs: number | null = null;
  #stored: Minutes | null = null;

  constructor(ports: FiguresPorts) {
    this.#ports = ports;
  }

  /** Within a turn: adds an event. */
  note(kind: HistoryKind, messages: number): void {
    this.#noted.set(kind, (this.#noted.get(kind) ?? 0) + messages);
    if (MARKED.includes(kind)) addMarks(this.#minute(), [[kind, this.#ports.nowMs]]);
    this.#isChanged = true;
  }

  /** Within a turn: adds a delivery that has ended. @param tookMs its duration. */
  ended(tookMs: number): void {
    for (const bucket of this.#current()) addTook(bucket, tookMs);
    this.#isChanged = true;
  }

  /**
   * At the end of a turn: adds its events and how full the queue is, if anything was noted in it.
   *
   * @returns whether the clock was moved, so that figures have to be written: without them, the skipped time would look
   *   like a quiet one.
   */
  endTurn(): boolean {
    const isMoved = this.#movedByMs > 0 && (this.#sinceMs ?? this.#open().sinceMs) !== null;
    if (this.#isChanged || isMoved) this.#addTurn();
    this.#isChanged = false;
    return isMoved;
  }

  /** Notes when this epoch began to note events, with the level at that time; only once. */
  #begin(): void {
    if (this.#sinceMs !== null) return;
    const { nowMs, level } = this.#ports;
    this.#sinceMs = nowMs;
    addLevel(this.#second(), level, nowMs);
  }

  /** Takes the rows of what was noted, to be written. */
  take(): WrittenRow[] {
    const minutes = this.#minutes;
    this.#minutes = [];
    return minutes.length === 0 ? [] : this.#open().append(minutes);
  }

  /** Messages a second in the last seconds by the queue's clock. */
  get rates(): QueueRates {
    const { nowMs } = this.#ports;
    const fromMs = nowMs - RATE_MS;
    const rates = { in: 0, out: 0, dead: 0 };
    for (let i = this.#seconds.length - 1; i >= 0; i--) {
      const { at, counts } = this.#seconds[i] as Bucket; // within its bounds
      if ((at + 1) * SECOND_MS <= fromMs) break;
      rates.in += (counts.accepted ?? 0) + (counts.arrived ?? 0);
      rates.out += counts.acked ?? 0;
      rates.dead += counts.deadLettered ?? 0;
    }
    const seconds = RATE_MS / SECOND_MS;
    return { in: rates.in / seconds, out: rates.out / seconds, dead: rates.dead / seconds };
  }

  /** Answers with a window up to now. @param isOn whether events are noted; else only the level is known. */
  read({ window }: FiguresRequest, isOn: boolean): FiguresReply {
    const { nowMs, level } = this.#ports;
    if (!isOn) addLevel(this.#second(), level, nowMs);
    else if (this.#movedByMs > 0) this.#addTurn();
    else this.#begin();
    const { stepMs, columns } = FIGURES_WINDOWS[window];
    const stored = this.#open();
    const minutes = () => merged(this.#minutes, stored);
    const isBySecond = stepMs < MINUTE_MS;
    const buckets = isBySecond
      ? secondsAndMinutes(this.#seconds, minutes(), this.#sinceMs ?? nowMs)
      : minutes();
    const unitMs = isBySecond ? SECOND_MS : MINUTE_MS;
    const shown = columnsOf(buckets, { unitMs, stepMs, columns, nowMs, level });
    const marks = marksSince(minutes(), shown.startsMs[0] ?? nowMs);
    const sinceMs = isOn ? Math.min(stored.sinceMs ?? nowMs, this.#sinceMs ?? nowMs) : null;
    return { isOn, nowMs, stepMs, sinceMs, ...shown, marks };
  }

  #addTurn(): void {
    const { level, nowMs } = this.#ports;
    for (const bucket of this.#current()) {
      for (const [kind, messages] of this.#noted) addEvent(bucket, kind, messages);
      addLevel(bucket, level, nowMs);
    }
    this.#noted.clear();
  }

  /** Time by which the clock was moved since it was looked at; 0 in the turn that moves it, whose time stands. */
  get #movedByMs(): number {
    const { movedMs, nowMs } = this.#ports;
    const byMs = movedMs - this.#movedMs;
    return nowMs - this.#lookedMs >= byMs ? byMs : 0;
  }

  /** Returns the buckets of the current second and minute, with the time and a move of the clock noted in them. */
  #current(): readonly Bucket[] {
    this.#begin();
    const { nowMs } = this.#ports;
    const byMs = this.#movedByMs;
    const current = [this.#second(), this.#minute()];
    for (const bucket of current) addTime(bucket, nowMs);
    if (byMs > 0) {
      for (const bucket of current) bucket.movedMs = (bucket.movedMs ?? 0) + byMs;
      if (byMs >= CLOCK_MOVED_MS_MIN) addMarks(this.#minute(), [["clockMoved", nowMs, byMs]]);
      this.#movedMs += byMs;
    }
    this.#lookedMs = nowMs;
    return current;
  }

  #second(): Bucket {
    const second = latestOf(this.#seconds, Math.floor(this.#ports.nowMs / SECOND_MS));
    if (this.#seconds.length > SECONDS_KEPT) this.#seconds.shift();
    return second;
  }

  #minute(): Bucket {
    return latestOf(this.#minutes, Math.floor(this.#ports.nowMs / MINUTE_MS));
  }

  #open(): Minutes {
    this.#stored ??= new Minutes(this.#ports.store, this.#ports.heads());
    return this.#stored;
  }
}

/** The last bucket of a list, which a new one is added to if it is later. A clock that was set back changes nothing. */
function latestOf(buckets: Bucket[], at: number): Bucket {
  const last = buckets.at(-1);
  if (last !== undefined && last.at >= at) return last;
  const bucket = newBucket(at);
  buckets.push(bucket);
  return bucket;
}

/** Lists the marks from a time on, oldest first. */
function marksSince(newestFirst: Iterable<Bucket>, fromMs: number): FiguresMark[] {
  const found: FiguresMark[] = [];
  for (const { at, marks = [] } of newestFirst) {
    if ((at + 1) * MINUTE_MS <= fromMs || found.length >= FIGURES_MARKS_MAX) break;
    for (const [kind, atMs, byMs = null] of marks.toReversed()) {
      if (atMs >= fromMs && found.length < FIGURES_MARKS_MAX) found.push({ kind, atMs, byMs });
    }
  }
  return found.reverse();
}

/** Stored minutes with those that are not written yet, newest first. */
function* merged(unwritten: readonly Bucket[], stored: Minutes): Generator<Bucket> {
  const waiting = unwritten.toReversed();
  for (const minute of stored.newestFirst()) {
    while (waiting[0] !== undefined && waiting[0].at > minute.at) yield waiting.shift() as Bucket;
    if (waiting[0]?.at === minute.at) {
      const both = copyOf(minute);
      addBucket(both, waiting.shift() as Bucket);
      yield both;
    } else yield minute;
  }
  yield* waiting;
}

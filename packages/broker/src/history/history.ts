import type { MessagePosition } from "@sluice/engine";
import {
  type FiguresReply,
  type FiguresRequest,
  type HistoryEvent,
  type HistoryKind,
  type HistoryReply,
  type HistoryRequest,
  NAMED_IDS_MAX,
  type PackedIndex,
  type PrintedLogs,
  type QueueRates,
  type StoryReply,
} from "@sluice/protocol";
import {
  DELIVERY_ENDS,
  DELIVERY_ENDS_MAX,
  type EarlierDeliveries,
  earlierDeliveries,
} from "./earlier-deliveries.ts";
import { Failures } from "./failures.ts";
import { Figures, type FiguresPorts } from "./figures/figures.ts";
import { Totals } from "./figures/totals.ts";
import { Finished, type FinishedPorts } from "./finished/finished.ts";
import { ErrorTexts } from "./journal/error-texts.ts";
import { beginningOf, idsIn, type NotedEvent, type StoredEvent } from "./journal/event.ts";
import { Journal, RING_SLOTS, type WrittenRow } from "./journal/journal.ts";
import { ROW_HEAD_BYTES, type RowHead } from "./journal/journal-row.ts";
import { newestEvents } from "./newest-events.ts";
import type { HistoryObserver } from "./observer.ts";
import { PrintedLimit } from "./printed-limit.ts";
import { Producers } from "./producers.ts";
import { QuietEvents, type QuietFacts } from "./quiet-events.ts";
import { QuietFlush, type QuietFlushPorts } from "./quiet-flush.ts";
import { findStory, placesIn, type SearchedRow } from "./story/find-story.ts";
import { eventOf, storyOf } from "./story/story.ts";

/** Parts of a queue that its history uses. */
export interface HistoryPorts
  extends FinishedPorts,
    QuietFlushPorts,
    Pick<FiguresPorts, "movedMs" | "level"> {
  /** Name of the object, for the observer. */
  readonly name: string;
  /** Name of the queue in stories. */
  readonly queueName: string;
  /** Whether it asks consumers for what handlers print. Read for every delivery, because it can change. */
  readonly takesLogs: boolean;
  /** Is notified of every event. Default: none. */
  readonly observer?: HistoryObserver | undefined;
  /** Number of the first event, larger than any of an earlier epoch. */
  readonly firstNumber: number;
  /** Whether a message is in the queue. */
  isHere(position: MessagePosition): boolean;
}

/** Stored parts of a history: the texts of errors, and two rings, so that quiet events never push out recorded ones. */
interface Stored {
  readonly quiet: Journal;
  readonly recorded: Journal;
  readonly errors: ErrorTexts;
}

/** Row of one of the two rings. */
interface Head extends RowHead, SearchedRow {
  readonly journal: Journal;
}

/**
 * Bounded history of the messages of a queue. Parts of the queue note events within their turn.
 *
 * - Recorded events (failures, messages given up, acts of an operator) are written with the commit of their turn.
 * - Quiet events (`QuietFacts`) are written `flushMs` after the first of them, or earlier if nothing is left to do. A
 *   crash loses those that wait.
 */
export class History {
  /** Bodies of messages that were finished last. */
  readonly finished: Finished;
  readonly #ports: HistoryPorts;
  readonly #quiet = new QuietEvents();
  readonly #producers = new Producers();
  readonly #totals = new Totals();
  readonly #printedLimit = new PrintedLimit();
  readonly #figures: Figures;
  #recorded: StoredEvent[] = [];
  #nextNumber: number;
  readonly #flush: QuietFlush;
  #stored: Stored | null = null;
  /** `null` before its first use, and after each recorded event. */
  #failures: Failures | null = null;

  constructor(ports: HistoryPorts) {
    this.#ports = ports;
    this.#nextNumber = ports.firstNumber;
    this.#flush = new QuietFlush(ports);
    this.#figures = new Figures({
      store: ports.store,
      heads: () => ports.store.journalHeads(ROW_HEAD_BYTES),
      get nowMs() {
        return ports.nowMs;
      },
      get movedMs() {
        return ports.movedMs;
      },
      get level() {
        return ports.level;
      },
    });
    this.finished = new Finished(ports, () => this.#flush.later());
  }

  /** Whether anything is kept. Ask before putting an event together. */
  get isOn(): boolean {
    return this.#ports.keptMs !== null || this.#ports.observer !== undefined;
  }

  /** Whether consumers are asked for what their handlers print. */
  get takesLogs(): boolean {
    return this.#ports.takesLogs;
  }

  /** Within a turn: notifies an observer of messages that are stored, before their event. */
  stored(messages: PackedIndex, from: number, count: number): void {
    this.#ports.observer?.stored(this.#ports.name, messages, from, count);
  }

  /** Notes a quiet event. @param detail makes members that the event has unless it is merged with others. */
  quiet(facts: QuietFacts, detail: () => Partial<NotedEvent> = () => ({})): void {
    if (!this.isOn) return;
    const { nowMs, observer, name } = this.#ports;
    observer?.noted(name, { ...facts, by: facts.by ?? "", ...detail() }, nowMs);
    this.#totals.add(facts.kind, facts.count);
    this.#figures.note(facts.kind, facts.count);
    if (facts.kind === "accepted") this.#producers.sent(facts.at, facts.by);
    this.#quiet.note(nowMs, facts, () => this.#nextNumber++, detail);
    this.#flush.later();
  }

  /** Within a turn: counts a delivery that has ended, whatever its messages got. @param tookMs its duration. */
  ended(tookMs: number): void {
    this.#totals.ended(tookMs);
    this.#figures.ended(tookMs);
  }

  /** Within a turn: notes that all messages were deleted by hand, and deletes the bodies of the finished ones. */
  purged(count: number): void {
    this.finished.clear();
    this.record({ kind: "purged", count });
  }

  /** Within a turn: notes a recorded event, which is written with the turn's commit. */
  record(event: NotedEvent): void {
    if (!this.isOn) return;
    this.#totals.add(event.kind, event.count);
    this.#figures.note(event.kind, event.count);
    this.#ports.observer?.noted(this.#ports.name, event, this.#ports.nowMs);
    this.#failures = null;
    const { error, ...rest } = event;
    this.#quiet.seal();
    const stored = { n: this.#nextNumber++, t: this.#ports.nowMs, ...rest };
    this.#recorded.push(error === undefined ? stored : { ...stored, ...this.#errorOf(error) });
  }

  /** Last errors of the messages in the queue, as far back as failures are kept; none where no history is. */
  get failures(): Failures {
    // A queue without a history must not read its rows, which are billed.
    this.#failures ??= new Failures(this.isOn ? this.#recordedEvents() : []);
    return this.#failures;
  }

  /** Reads how deliveries to a consumer ended before this epoch; `null` where no history is kept. */
  earlierDeliveries(consumer: string): EarlierDeliveries | null {
    if (!this.isOn) return null;
    const before = this.#ports.firstNumber;
    return earlierDeliveries(
      this.list({ before, kinds: DELIVERY_ENDS, max: DELIVERY_ENDS_MAX }).events,
      consumer,
    );
  }

  /**
   * Within a turn: notes what a handler printed, as a quiet event if all of its delivery is quiet. Where too much is
   * printed in a second the event has the number of lines instead of them.
   */
  printed(facts: Omit<QuietFacts, "kind">, batch: number, logs: PrintedLogs, isQuiet: boolean): void {
    const kind = "printed";
    const noted = () => ({ batch, logs: this.#printedLimit.apply(logs, this.#ports.nowMs) });
    if (isQuiet) this.quiet({ kind, ...facts }, noted);
    else
      this.record({
        kind,
        count: facts.count,
        at: facts.at,
        ...(facts.by === null ? {} : { by: facts.by }),
        ...noted(),
      });
  }

  /** Number of the latest event. */
  get lastNumber(): number {
    return this.#nextNumber - 1;
  }

  /** Number of events since the queue is awake, merged ones included. */
  get noted(): number {
    return this.#totals.noted;
  }

  /** Messages since the queue is awake, by kind of event. */
  get totals(): Partial<Record<HistoryKind, number>> {
    return this.#totals.messages;
  }

  /** Deliveries that have ended since the queue is awake, by `TOOK_MS_CLASSES`. */
  get tookMs(): readonly number[] {
    return this.#totals.tookMs;
  }

  /** Returns the producer of the messages of a segment, as far as this epoch knows it. */
  producerOf(segmentId: number): string | null {
    return this.#producers.of(segmentId);
  }

  /** Messages a second in the last seconds; `undefined` where nothing is kept. */
  get rates(): QueueRates | undefined {
    return this.isOn ? this.#figures.rates : undefined;
  }

  /** Answers with the figures of a window up to now. */
  figures(request: FiguresRequest): FiguresReply {
    return this.#figures.read(request, this.isOn);
  }

  /** Within a turn, before its commit: adds rows with the events that are due. */
  write(): void {
    const isMoved = this.isOn && this.#figures.endTurn();
    this.finished.collect();
    const events = this.#recorded;
    if (events.length > 0) {
      const { recorded, errors } = this.#open();
      this.#recorded = [];
      this.#writeRows([...errors.take(events[0]?.n ?? 0), ...recorded.append(events)]);
    }
    if (events.length > 0 || isMoved) this.#recordedFigures();
    if (!this.#flush.take()) return;
    this.finished.write();
    if (!this.#quiet.isEmpty) this.#writeRows(this.#open().quiet.append(this.#quiet.take()));
    this.#writeFigures();
  }

  /** When the alarm has to ring for quiet events, in ms; `null` if none wait for it. */
  get dueAtMs(): number | null {
    return this.#flush.alarmAtMs;
  }

  /** Has the next turn write what waits to be written. */
  flush(): void {
    this.#flush.next();
  }

  /** Writes the figures of what is recorded in its commit, or with the next flush if the last one was just now. */
  #recordedFigures(): void {
    if (this.#flush.isAwaited) return;
    if (this.#flush.wasJustNow) this.#flush.later();
    else this.#writeFigures();
  }

  #writeFigures(): void {
    this.#flush.done();
    this.#writeRows(this.#figures.take());
  }

  /** Lists events, newest first. */
  list(request: HistoryRequest): HistoryReply {
    const { errors } = this.#open();
    const all = { rows: this.#heads(), unwritten: this.#unwritten() };
    const { events, next } = newestEvents(all, request, (event) => this.#isKept(event));
    return { isOn: this.isOn, events: events.map((event) => this.#eventOf(event, errors)), next };
  }

  /** Lists the message ids in events that begin with a prefix, newest first, `NAMED_IDS_MAX` at most. */
  idsNamed(prefix: string): readonly string[] {
    const ids = new Set<string>();
    const look = (found: readonly StoredEvent[]) => {
      for (const event of found.toReversed()) {
        if (event.ids?.includes(prefix) !== true || !this.#isKept(event)) continue;
        for (const id of idsIn(event.ids)) if (id.startsWith(prefix)) ids.add(id);
      }
    };
    look(this.#unwritten());
    for (const head of this.#heads()) {
      if (ids.size >= NAMED_IDS_MAX) break;
      const text = head.text();
      if (text.includes(prefix)) look(JSON.parse(text) as StoredEvent[]);
    }
    return [...ids].slice(0, NAMED_IDS_MAX);
  }

  /** Lists the places that a message had, as far as events name it with one. */
  placesOf(id: string): MessagePosition[] {
    return placesIn({ rows: this.#heads(), unwritten: this.#unwritten() }, id);
  }

  /** Collects the events of a message. */
  story(id: string): StoryReply {
    const { errors } = this.#open();
    const heads = this.#heads();
    return storyOf({
      ...findStory({ rows: heads, unwritten: this.#unwritten() }, id, (event) => this.#isKept(event)),
      queue: this.#ports.queueName,
      id,
      isOn: this.isOn,
      isHere: ([segmentId, index]) => this.#ports.isHere({ segmentId, index }),
      shown: (event) => this.#eventOf(event, errors),
      keptSinceMs: this.#keptSinceMs(heads),
    });
  }

  /** Finds the time in ms before which events are overwritten, or older than they are kept; `null` for neither. */
  #keptSinceMs(heads: readonly Head[]): number | null {
    const { keptMs, nowMs } = this.#ports;
    const times = [this.#open().quiet, this.#open().recorded].flatMap((journal) => {
      const oldest = heads.findLast((head) => head.journal === journal);
      const [first] = oldest === undefined ? [] : (JSON.parse(oldest.text()) as StoredEvent[]);
      if (first === undefined) return [];
      if (!this.#isKept(first)) return [Math.max(journal.isFull ? first.t : 0, nowMs - (keptMs ?? 0))];
      return journal.isFull ? [first.t] : [];
    });
    return times.length === 0 ? null : Math.max(...times);
  }

  /** Lists the recorded events, oldest first. */
  *#recordedEvents(): Generator<StoredEvent, undefined> {
    const { recorded } = this.#open();
    for (const { slot } of recorded.heads().reverse()) {
      for (const event of JSON.parse(recorded.textAt(slot) ?? "[]") as StoredEvent[]) {
        if (this.#isKept(event)) yield event;
      }
    }
    yield* this.#recorded;
  }

  #heads(): Head[] {
    const { quiet, recorded } = this.#open();
    const of = (journal: Journal) =>
      journal.heads().map((head) => ({ ...head, journal, text: () => journal.textAt(head.slot) ?? "[]" }));
    return [...of(quiet), ...of(recorded)].sort((a, b) => b.last - a.last);
  }

  /** Lists the events that are not written yet. A crash would lose them. */
  #unwritten(): StoredEvent[] {
    return [...this.#quiet.peek(), ...this.#recorded];
  }

  #isKept({ t, merged }: StoredEvent): boolean {
    const { keptMs, nowMs } = this.#ports;
    return keptMs === null || (merged?.untilMs ?? t) > nowMs - keptMs;
  }

  #eventOf(event: StoredEvent, errors: ErrorTexts): HistoryEvent {
    const { errorHash, error = null } = event;
    const whole = errorHash === undefined ? null : errors.textOf(errorHash);
    return eventOf(this.#ports.name, event, whole ?? error);
  }

  #errorOf(text: string): Pick<StoredEvent, "error" | "errorHash"> {
    const error = beginningOf(text);
    return error === text ? { error } : { error, errorHash: this.#open().errors.hashOf(text) };
  }

  #writeRows(rows: readonly WrittenRow[]): void {
    const { store, write } = this.#ports;
    for (const { slot, body } of rows) write(() => store.writeJournal(slot, body));
  }

  /** Reads the stored rows when they are first needed, so that a start does not wait for them. */
  #open(): Stored {
    if (this.#stored !== null) return this.#stored;
    const { store } = this.#ports;
    const heads = [...store.journalHeads(ROW_HEAD_BYTES)];
    this.#stored = {
      quiet: new Journal(store, heads, { firstSlot: 0 }),
      recorded: new Journal(store, heads, { firstSlot: RING_SLOTS }),
      errors: new ErrorTexts(store, heads, 2 * RING_SLOTS),
    };
    return this.#stored;
  }
}

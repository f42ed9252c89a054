import type { JournalHead, JournalRows } from "../../store/store.ts";
import type { WrittenRow } from "../journal/journal.ts";
import { encodeRow, readHead, readText } from "../journal/journal-row.ts";
import { addBucket, type Bucket, copyOf } from "./bucket.ts";

/**
 * First slot of the journal that holds minutes. A contract, since stored data depends on it: slots before it hold
 * events and texts of errors.
 */
export const MINUTES_FIRST_SLOT = 10_000;
/** Minutes of a row. The last row is written again with what comes next. */
export const MINUTES_PER_ROW = 10;
/** Rows: those of a day, and one more because the last one is not full. */
export const MINUTES_ROWS = (24 * 60) / MINUTES_PER_ROW + 1;

/** Row with its minutes, in ascending order. */
interface OpenRow {
  readonly span: number;
  readonly slot: number;
  readonly minutes: Map<number, Bucket>;
}

/**
 * Minutes of a queue in which anything happened, in a ring of rows. A row is of ten minutes (its span) in which
 * anything happened, so neither a quiet time nor a clock that is moved pushes out what was before.
 */
export class Minutes {
  readonly #rows: Pick<JournalRows, "readJournal">;
  /** Slot of each span. */
  readonly #slots = new Map<number, number>();
  #open: OpenRow | null = null;
  #nextSlot = MINUTES_FIRST_SLOT;

  /** @param heads heads of all rows of the journal: those that hold no minutes are skipped. */
  constructor(rows: Pick<JournalRows, "readJournal">, heads: Iterable<JournalHead>) {
    this.#rows = rows;
    let newest = -1;
    for (const { slot, head } of heads) {
      const isOwn = slot >= MINUTES_FIRST_SLOT && slot < MINUTES_FIRST_SLOT + MINUTES_ROWS;
      const read = isOwn ? readHead(head) : null;
      if (read === null) continue;
      this.#slots.set(read.first, slot);
      if (read.first <= newest) continue;
      newest = read.first;
      this.#nextSlot = after(slot);
    }
  }

  /** Adds minutes, in ascending order. @returns the rows to write. */
  append(minutes: Iterable<Bucket>): WrittenRow[] {
    const rows = new Map<number, OpenRow>();
    for (const minute of minutes) {
      const span = spanOf(minute);
      if (this.#open?.span !== span) this.#open = this.#rowOf(span);
      const { slot, minutes: known } = this.#open;
      const before = known.get(minute.at);
      if (before === undefined) known.set(minute.at, copyOf(minute));
      else addBucket(before, minute);
      rows.set(slot, this.#open);
    }
    return [...rows.values()].map(({ slot, span, minutes: own }) => {
      const texts = [...own.values()].map((minute) => JSON.stringify(minute));
      // A row of minutes has no event numbers.
      return { slot, body: encodeRow({ first: span, last: span, low: 0, high: 0 }, texts) };
    });
  }

  /** Lists the minutes, newest first. Rows are read as the caller gets to them. */
  *newestFirst(): Generator<Bucket> {
    const spans = [...this.#slots.keys()].sort((a, b) => b - a);
    for (const span of spans) {
      yield* this.#minutesOf(span).reverse();
    }
  }

  /** Time in ms from which on minutes are known; `null` if there are none. */
  get sinceMs(): number | null {
    for (const span of [...this.#slots.keys()].sort((a, b) => a - b)) {
      const [oldest] = this.#minutesOf(span);
      if (oldest !== undefined) return oldest.firstMs ?? oldest.at * 60_000;
    }
    return null;
  }

  /** Minutes of a row, in ascending order. */
  #minutesOf(span: number): Bucket[] {
    const row = this.#open?.span === span ? this.#open : this.#rowOf(span);
    return [...row.minutes.values()].sort((a, b) => a.at - b.at);
  }

  /** Reads the row of a span. A span without one gets the next slot, whose row is overwritten. */
  #rowOf(span: number): OpenRow {
    const known = this.#slots.get(span);
    const slot = known ?? this.#nextSlot;
    if (known === undefined) {
      this.#nextSlot = after(slot);
      for (const [other, its] of this.#slots) if (its === slot) this.#slots.delete(other);
      this.#slots.set(span, slot);
      return { span, slot, minutes: new Map() };
    }
    const body = this.#rows.readJournal(slot);
    const stored = JSON.parse((body === null ? null : readText(body)) ?? "[]") as Bucket[];
    return { span, slot, minutes: new Map(stored.map((minute) => [minute.at, minute])) };
  }
}

function spanOf({ at }: Bucket): number {
  return Math.floor(at / MINUTES_PER_ROW);
}

function after(slot: number): number {
  return MINUTES_FIRST_SLOT + ((slot - MINUTES_FIRST_SLOT + 1) % MINUTES_ROWS);
}

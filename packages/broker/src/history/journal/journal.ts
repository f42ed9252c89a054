import type { JournalHead, JournalRows } from "../../store/store.ts";
import type { StoredEvent } from "./event.ts";
import { encodeRow, type RowHead, readHead, readText, segmentsOf } from "./journal-row.ts";

/** Units of text with which a row is full: some 120 events of single messages. */
export const ROW_TEXT_FULL = 16_000;
/** Units of what handlers printed with which a row is full: below that it costs no row of its own. */
export const ROW_PRINTED_FULL = 48_000;
/** Rows of a ring. Full ones hold 60,000 events of single messages. */
export const RING_SLOTS = 512;

/** Row that a commit has to write. */
export interface WrittenRow {
  readonly slot: number;
  readonly body: Uint8Array;
}

/** Row that takes the next events. */
interface OpenRow extends RowHead {
  readonly slot: number;
  readonly events: readonly string[];
  readonly units: number;
  readonly printedUnits: number;
}

/**
 * Events in a ring of rows, of which the oldest is overwritten. Nothing is deleted and there is no index, since either
 * is billed like a row. A row that is not full is written again with the next events.
 */
export class Journal {
  readonly #rows: Pick<JournalRows, "readJournal">;
  readonly #firstSlot: number;
  readonly #slots: number;
  readonly #heads = new Map<number, RowHead>();
  #open: OpenRow | null = null;
  #nextSlot: number;

  /** @param heads of rows; rows of other slots are left out. */
  constructor(
    rows: Pick<JournalRows, "readJournal">,
    heads: Iterable<JournalHead>,
    { firstSlot, slots = RING_SLOTS }: { readonly firstSlot: number; readonly slots?: number },
  ) {
    this.#rows = rows;
    this.#firstSlot = firstSlot;
    this.#slots = slots;
    this.#nextSlot = firstSlot;
    for (const { slot, head } of heads) {
      const read = slot >= firstSlot && slot < firstSlot + slots ? readHead(head) : null;
      if (read !== null) this.#heads.set(slot, read);
    }
    const [newest] = this.heads();
    if (newest === undefined) return;
    this.#nextSlot = this.#after(newest.slot);
    this.#open = this.#reopened(newest.slot);
  }

  /** Adds events, in the order of their numbers. @returns the rows to write, of which the last `slots` remain. */
  append(events: readonly StoredEvent[]): WrittenRow[] {
    const rows = new Map<number, OpenRow>();
    for (const event of events) {
      const open = withEvent(this.#open ?? this.#emptyRow(event), event);
      rows.set(open.slot, open);
      const { first, last, low, high } = open;
      this.#heads.set(open.slot, { first, last, low, high });
      this.#open = isFull(open) ? null : open;
    }
    return [...rows.values()].map((row) => ({ slot: row.slot, body: encodeRow(row, row.events) }));
  }

  /** Lists the heads of all rows, newest first. */
  heads(): (RowHead & { readonly slot: number })[] {
    const heads = [...this.#heads].map(([slot, head]) => ({ ...head, slot }));
    return heads.sort((a, b) => b.last - a.last);
  }

  /** Whether all slots are used, so that further rows overwrite events. */
  get isFull(): boolean {
    return this.#heads.size >= this.#slots;
  }

  /** Reads the text of a row's events; `null` for a row that is damaged. */
  textAt(slot: number): string | null {
    if (this.#open?.slot === slot) return `[${this.#open.events.join(",")}]`;
    const body = this.#rows.readJournal(slot);
    return body === null ? null : readText(body);
  }

  #emptyRow({ n }: StoredEvent): OpenRow {
    const slot = this.#nextSlot;
    this.#nextSlot = this.#after(slot);
    return emptyRow(slot, n);
  }

  #after(slot: number): number {
    return this.#firstSlot + ((slot - this.#firstSlot + 1) % this.#slots);
  }

  /** Continues the row of an earlier epoch. A queue that starts often would otherwise fill the ring with short rows. */
  #reopened(slot: number): OpenRow | null {
    const text = this.textAt(slot);
    if (text === null) return null;
    let open: OpenRow | null = null;
    for (const event of JSON.parse(text) as StoredEvent[]) {
      open = withEvent(open ?? emptyRow(slot, event.n), event);
    }
    return open === null || isFull(open) ? null : open;
  }
}

function emptyRow(slot: number, first: number): OpenRow {
  return { slot, first, last: first, low: Infinity, high: 0, events: [], units: 0, printedUnits: 0 };
}

function isFull({ units, printedUnits }: OpenRow): boolean {
  return units >= ROW_TEXT_FULL || printedUnits >= ROW_PRINTED_FULL;
}

function withEvent(row: OpenRow, event: StoredEvent): OpenRow {
  const text = JSON.stringify(event);
  const { low, high } = segmentsOf(event);
  const isPrinted = event.kind === "printed";
  return {
    ...row,
    last: event.n,
    low: Math.min(row.low, low),
    high: Math.max(row.high, high),
    events: [...row.events, text],
    units: row.units + (isPrinted ? 0 : text.length),
    printedUnits: row.printedUnits + (isPrinted ? text.length : 0),
  };
}

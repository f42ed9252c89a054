import { ERROR_TEXT_MAX } from "@sluice/protocol";
import { checksumOfText } from "../../store/checksum.ts";
import type { JournalHead, JournalRows } from "../../store/store.ts";
import type { WrittenRow } from "./journal.ts";
import { encodeRow, readHead, readText } from "./journal-row.ts";

/** Error texts of a queue that are kept. */
export const ERROR_TEXTS_MAX = 200;

/** Texts of errors, each stored once for all events that share it. New ones overwrite the oldest. */
export class ErrorTexts {
  readonly #rows: Pick<JournalRows, "readJournal">;
  readonly #firstSlot: number;
  /** Slots by the hashes of their texts, oldest first. */
  readonly #slots = new Map<number, number>();
  /** Texts of this turn, which no row has yet. */
  readonly #fresh = new Map<number, string>();
  #nextSlot: number;

  constructor(rows: Pick<JournalRows, "readJournal">, heads: Iterable<JournalHead>, firstSlot: number) {
    this.#rows = rows;
    this.#firstSlot = firstSlot;
    const known: { readonly slot: number; readonly hash: number; readonly order: number }[] = [];
    for (const { slot, head } of heads) {
      const read = slot >= firstSlot && slot < firstSlot + ERROR_TEXTS_MAX ? readHead(head) : null;
      if (read !== null) known.push({ slot, hash: read.low, order: read.last });
    }
    known.sort((a, b) => a.order - b.order);
    for (const { hash, slot } of known) this.#slots.set(hash, slot);
    this.#nextSlot = this.#after(known.at(-1)?.slot ?? firstSlot - 1);
  }

  /** Returns the hash that a text is known by. A new text is written by the next `take`. */
  hashOf(text: string): number {
    const kept = text.slice(0, ERROR_TEXT_MAX);
    const hash = checksumOfText(kept);
    if (!this.#slots.has(hash)) this.#fresh.set(hash, kept);
    return hash;
  }

  /** Takes the rows of the new texts, to be written. @param order grows with every call. */
  take(order: number): WrittenRow[] {
    const rows = [...this.#fresh].slice(-ERROR_TEXTS_MAX).map(([hash, text], i): WrittenRow => {
      const slot = this.#nextSlot;
      this.#nextSlot = this.#after(slot);
      for (const [known, at] of this.#slots) if (at === slot) this.#slots.delete(known);
      this.#slots.set(hash, slot);
      const at = order + i / ERROR_TEXTS_MAX;
      return {
        slot,
        body: encodeRow({ first: at, last: at, low: hash, high: hash }, [JSON.stringify(text)]),
      };
    });
    this.#fresh.clear();
    return rows;
  }

  /** Returns the text of a hash; `null` for one that was overwritten. */
  textOf(hash: number): string | null {
    const fresh = this.#fresh.get(hash);
    if (fresh !== undefined) return fresh;
    const slot = this.#slots.get(hash);
    const body = slot === undefined ? null : this.#rows.readJournal(slot);
    const text = body === null ? null : readText(body);
    if (text === null) return null;
    const [only] = JSON.parse(text) as string[];
    return only ?? null;
  }

  #after(slot: number): number {
    return this.#firstSlot + ((slot - this.#firstSlot + 1) % ERROR_TEXTS_MAX);
  }
}

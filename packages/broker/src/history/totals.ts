import { type HistoryKind, TOOK_MS_CLASSES } from "@sluice/protocol";

/** The class of a duration among `TOOK_MS_CLASSES`; the one behind them for what takes longer. */
export function tookClassOf(tookMs: number): number {
  const place = TOOK_MS_CLASSES.findIndex((upTo) => tookMs <= upTo);
  return place === -1 ? TOOK_MS_CLASSES.length : place;
}

/** A count of nothing for each class. */
export function noTook(): number[] {
  return Array<number>(TOOK_MS_CLASSES.length + 1).fill(0);
}

/** How much has happened since the queue is awake: the rates of what is merged are known by this. */
export class Totals {
  readonly #messages = new Map<HistoryKind, number>();
  readonly #tookMs = noTook();
  #noted = 0;

  add(kind: HistoryKind, count: number, tookMs: number | undefined): void {
    this.#noted += 1;
    this.#messages.set(kind, (this.#messages.get(kind) ?? 0) + count);
    if (tookMs === undefined) return;
    const place = tookClassOf(tookMs);
    this.#tookMs[place] = (this.#tookMs[place] ?? 0) + 1;
  }

  /** Events, those that were merged included. */
  get noted(): number {
    return this.#noted;
  }

  /** Messages by kind of event. */
  get messages(): Partial<Record<HistoryKind, number>> {
    return Object.fromEntries(this.#messages);
  }

  /** Deliveries that have ended, by how long they took. */
  get tookMs(): readonly number[] {
    return [...this.#tookMs];
  }
}

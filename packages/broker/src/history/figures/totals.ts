import { type HistoryKind, TOOK_MS_CLASSES } from "@sluice/protocol";

/** Finds the class of a duration among `TOOK_MS_CLASSES`; one more for durations longer than all of them. */
export function tookClassOf(tookMs: number): number {
  const place = TOOK_MS_CLASSES.findIndex((upTo) => tookMs <= upTo);
  return place === -1 ? TOOK_MS_CLASSES.length : place;
}

/** Makes a count of 0 for each class. */
export function noTook(): number[] {
  return Array<number>(TOOK_MS_CLASSES.length + 1).fill(0);
}

/** Totals of events since the queue is awake. Rates come from them, because merged events give none. */
export class Totals {
  readonly #messages = new Map<HistoryKind, number>();
  readonly #tookMs = noTook();
  #noted = 0;

  add(kind: HistoryKind, count: number): void {
    this.#noted += 1;
    this.#messages.set(kind, (this.#messages.get(kind) ?? 0) + count);
  }

  /** Adds a delivery that has ended. @param tookMs its duration. */
  ended(tookMs: number): void {
    const place = tookClassOf(tookMs);
    this.#tookMs[place] = (this.#tookMs[place] ?? 0) + 1;
  }

  /** Number of events, merged ones included. */
  get noted(): number {
    return this.#noted;
  }

  /** Messages by kind of event. */
  get messages(): Partial<Record<HistoryKind, number>> {
    return Object.fromEntries(this.#messages);
  }

  /** Numbers of ended deliveries by the classes of their durations. */
  get tookMs(): readonly number[] {
    return [...this.#tookMs];
  }
}

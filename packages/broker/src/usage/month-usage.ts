import type { QueueUsage } from "@sluice/protocol";

/** Counts of an object since it started. */
export type UsageCounts = Omit<QueueUsage, "month" | "sinceMs">;

/** Counts of an object that has done nothing. */
export const NO_COUNTS: UsageCounts = {
  rowsWritten: 0,
  rowsRead: 0,
  requests: 0,
  awakeMs: 0,
  messages: 0,
  messageBytes: 0,
  messageChunks: 0,
  deliveries: 0,
};

/** Names of the counts in their stored order. A contract, since stored data depends on it: append, never reorder. */
export const COUNT_NAMES = Object.keys(NO_COUNTS) as readonly (keyof UsageCounts)[];

/**
 * Counts by calendar month, over all epochs. Counting itself costs nothing: the month is checked when the counts are
 * read, which a busy queue does with every report. The counts of a month begin with the first read in it.
 */
export class MonthUsage {
  readonly #counts: () => UsageCounts;
  #month: string;
  #sinceMs: number;
  /** Counts of earlier epochs of the month, less this epoch's counts of earlier months. */
  #base: UsageCounts;

  /**
   * @param counts reads the counts of this epoch.
   * @param stored counts of earlier epochs; `null` for none.
   */
  constructor(counts: () => UsageCounts, stored: QueueUsage | null, nowMs: number) {
    this.#counts = counts;
    this.#month = monthOf(nowMs);
    const isOfMonth = stored?.month === this.#month;
    this.#base = isOfMonth ? stored : NO_COUNTS;
    if (stored === null) this.#sinceMs = nowMs;
    else this.#sinceMs = isOfMonth ? stored.sinceMs : monthStartMs(nowMs);
  }

  read(nowMs: number): QueueUsage {
    const counted = this.#counts();
    const month = monthOf(nowMs);
    if (month !== this.#month) {
      this.#month = month;
      this.#sinceMs = monthStartMs(nowMs);
      this.#base = combined(NO_COUNTS, counted, -1);
    }
    return { month, sinceMs: this.#sinceMs, ...combined(this.#base, counted, 1) };
  }
}

function combined(a: UsageCounts, b: UsageCounts, sign: 1 | -1): UsageCounts {
  const sums = COUNT_NAMES.map((name) => [name, a[name] + sign * b[name]] as const);
  return Object.fromEntries(sums) as unknown as UsageCounts;
}

/** Formats the month of a time, such as `2026-11`. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

function monthStartMs(ms: number): number {
  return Date.parse(`${monthOf(ms)}-01T00:00:00Z`);
}

import type { QueueUsage } from "@sluice/protocol";

/** Counts of an object since it started. */
export type UsageCounts = Omit<QueueUsage, "month" | "sinceMs">;

const NOTHING: UsageCounts = {
  rowsWritten: 0,
  rowsRead: 0,
  requests: 0,
  awakeMs: 0,
  messages: 0,
  messageBytes: 0,
  messageChunks: 0,
  deliveries: 0,
};

/** Names of the counts in the order in which they are stored: append, never reorder. */
export const COUNT_NAMES = Object.keys(NOTHING) as readonly (keyof UsageCounts)[];

/**
 * Counts by calendar month, over all epochs. Nothing is done when something is counted: the month is looked at when
 * the counts are read, which a busy queue does with every report. What was counted in the seconds before the first one
 * of a month is the new month's.
 */
export class MonthUsage {
  readonly #counts: () => UsageCounts;
  #month: string;
  #sinceMs: number;
  /** Counts that are added to those of this epoch. Negative for the share of earlier months in them. */
  #base: UsageCounts;

  /**
   * @param counts what this epoch has counted until now.
   * @param stored what the epochs before have; `null` where nobody has counted.
   */
  constructor(counts: () => UsageCounts, stored: QueueUsage | null, nowMs: number) {
    this.#counts = counts;
    this.#month = monthOf(nowMs);
    const isOfMonth = stored?.month === this.#month;
    this.#base = isOfMonth ? stored : NOTHING;
    if (stored === null) this.#sinceMs = nowMs;
    else this.#sinceMs = isOfMonth ? stored.sinceMs : monthStartMs(nowMs);
  }

  read(nowMs: number): QueueUsage {
    const counted = this.#counts();
    const month = monthOf(nowMs);
    if (month !== this.#month) {
      this.#month = month;
      this.#sinceMs = monthStartMs(nowMs);
      this.#base = combined(NOTHING, counted, -1);
    }
    return { month, sinceMs: this.#sinceMs, ...combined(this.#base, counted, 1) };
  }
}

function combined(a: UsageCounts, b: UsageCounts, sign: 1 | -1): UsageCounts {
  const sums = COUNT_NAMES.map((name) => [name, a[name] + sign * b[name]] as const);
  return Object.fromEntries(sums) as unknown as UsageCounts;
}

/** `2026-11`. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

function monthStartMs(ms: number): number {
  return Date.parse(`${monthOf(ms)}-01T00:00:00Z`);
}

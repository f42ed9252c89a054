import type { FiguresReply } from "@sluice/protocol";
import { timeOf } from "../time.ts";

/** Figures of a queue over a window, as the admin API shows them: in columns of one length, oldest first. */
export interface FiguresOverView
  extends Pick<
    FiguresReply,
    "isOn" | "stepMs" | "startsMs" | "counts" | "held" | "ageMs" | "p50Ms" | "p99Ms"
  > {
  /** The queue's own time. */
  readonly now: string;
  /** Since when counts are known; `null` if none are. */
  readonly since: string | null;
  /** All deliveries of the window. `tookMs` counts them by duration, as `merged.tookMs` of an event does. */
  readonly took: FiguresReply["took"];
  /** Pauses, faults and moves of the clock, oldest first. */
  readonly marks: readonly MarkView[];
}

export interface MarkView {
  /** Kind of an event, or `clockMoved`. */
  readonly kind: string;
  readonly at: string;
  /** Time by which the clock was moved; `null` for any other mark. */
  readonly byMs: number | null;
}

export function figuresOver({ nowMs, sinceMs, marks, counts, ...rest }: FiguresReply): FiguresOverView {
  return {
    now: timeOf(nowMs),
    since: sinceMs === null ? null : timeOf(sinceMs),
    ...rest,
    // A minute without counts by the second is spread evenly over its seconds, which makes fractions.
    counts: Object.fromEntries(Object.entries(counts).map(([kind, column]) => [kind, column.map(rounded)])),
    marks: marks.map(({ kind, atMs, byMs }) => ({ kind, at: timeOf(atMs), byMs })),
  };
}

function rounded(count: number): number {
  return Math.round(count * 1_000) / 1_000;
}

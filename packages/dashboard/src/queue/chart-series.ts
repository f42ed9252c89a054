import type { FiguresOverView, MarkView } from "../api/call.ts";
import { duration } from "../text/format.ts";
import type { ChartMark, Line } from "../ui/chart.tsx";

/** Windows of the charts, with what they are called and how often they are asked for, in ms. */
export const WINDOWS = [
  { window: "5m", label: "5 min", periodMs: 1_000 },
  { window: "1h", label: "1 h", periodMs: 5_000 },
  { window: "24h", label: "24 h", periodMs: 15_000 },
] as const;
export type ChartWindow = (typeof WINDOWS)[number]["window"];

const IN = ["accepted", "arrived"] as const;
const OUT = ["acked"] as const;
const BAD = ["retried", "deadLettered", "dropped"] as const;

/** State of the queue at this moment, for the legends. */
export interface LevelNow {
  readonly held: number;
  readonly ageMs: number;
}

/** Makes the lines of the charts. */
export function linesOf(
  { startsMs, stepMs, since, counts, held, ageMs, p50Ms, p99Ms, took }: FiguresOverView,
  now: LevelNow,
) {
  const sinceMs = since === null ? Number.POSITIVE_INFINITY : Date.parse(since);
  const ratesOf = (kinds: readonly (typeof IN | typeof OUT | typeof BAD)[number][]): Line => {
    const sums = startsMs.map((_, i) => kinds.reduce((sum, kind) => sum + (counts[kind]?.[i] ?? 0), 0));
    const all = Math.round(sums.reduce((sum, count) => sum + count, 0));
    return {
      values: sums.map((sum, i) =>
        (startsMs[i] ?? 0) + stepMs > sinceMs || sum > 0 ? (1_000 * sum) / stepMs : null,
      ),
      whole: since === null ? "–" : `${all.toLocaleString("en")} in all`,
    };
  };
  const upTo = (ms: number | null) => (ms === null ? "–" : `≤ ${duration(ms)}`);
  return {
    in: ratesOf(IN),
    out: ratesOf(OUT),
    bad: ratesOf(BAD),
    held: levelOf(held, now.held, (messages) => messages.toLocaleString("en")),
    age: levelOf(ageMs, now.ageMs, duration),
    p50: { values: [...p50Ms], whole: upTo(took.p50Ms) },
    p99: { values: [...p99Ms], whole: upTo(took.p99Ms) },
  };
}

function levelOf(values: readonly (number | null)[], now: number, text: (value: number) => string): Line {
  const most = Math.max(now, ...values.filter((value) => value !== null));
  return { values: [...values], whole: most > now ? `${text(now)}, up to ${text(most)}` : text(now) };
}

/** Says in words what is marked, at the columns where it was. */
export function marksOf(marks: readonly MarkView[], startsMs: readonly number[]): ChartMark[] {
  return marks.map(({ kind, at, byMs }) => ({
    column: Math.max(
      0,
      startsMs.findLastIndex((start) => start <= Date.parse(at)),
    ),
    kind,
    text: byMs === null ? (WORDS[kind] ?? kind) : `clock moved by ${duration(byMs)}`,
  }));
}

/**
 * Lists the pauses of delivery, each by its first and last column.
 *
 * @param last the last column of the chart.
 * @param isPaused whether delivery is paused now: without a mark it was so all the time.
 */
export function pausesOf(
  marks: readonly ChartMark[],
  last: number,
  isPaused: boolean,
): (readonly [from: number, to: number])[] {
  const turns = marks.filter(({ kind }) => kind === "paused" || kind === "resumed");
  const begins = turns.length === 0 ? isPaused : turns[0]?.kind === "resumed";
  const pauses: (readonly [number, number])[] = [];
  let from = begins ? 0 : null;
  for (const { kind, column } of turns) {
    if (from !== null && kind === "resumed") pauses.push([from, column]);
    from = kind === "paused" ? (from ?? column) : null;
  }
  return from === null ? pauses : [...pauses, [from, last]];
}

const WORDS: Readonly<Record<string, string>> = { faulted: "a fault", paused: "paused", resumed: "resumed" };

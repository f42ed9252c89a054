import {
  FIGURES_MARKS_MAX,
  FIGURES_WINDOWS,
  type FiguresMark,
  type FiguresReply,
  type FiguresWindow,
  type HistoryKind,
} from "@sluice/protocol";
import { firstOf, largestOf, sumOf, sumOfLists } from "./amounts.ts";

/** Time within which the same mark of several shards is one, in ms: they learn of a change one after the other. */
const SAME_MARK_MS = 5_000;

/**
 * Makes the figures of a queue of those of its shards, column by column. Percentiles have no sum: the largest of the
 * shards is an upper bound of that of all deliveries.
 */
export function mergedFigures(window: FiguresWindow, parts: readonly FiguresReply[]): FiguresReply {
  const { stepMs, columns } = FIGURES_WINDOWS[window];
  const all = new Set(parts.flatMap(({ startsMs }) => startsMs));
  const startsMs = [...all].sort((a, b) => a - b).slice(-columns);
  /** Values of each shard by columns; `undefined` where it has no such column. */
  const columnsOf = <Value>(valuesOf: (part: FiguresReply) => readonly Value[]): (Value | undefined)[][] => {
    const byStart = parts.map(
      (part) => new Map(part.startsMs.map((startMs, i) => [startMs, valuesOf(part)[i]])),
    );
    return startsMs.map((startMs) => byStart.map((values) => values.get(startMs)));
  };
  const kinds = new Set(parts.flatMap(({ counts }) => Object.keys(counts) as HistoryKind[]));
  const counts = [...kinds].map((kind) => {
    const values = columnsOf((part) => part.counts[kind] ?? []);
    return [kind, values.map((column) => sumOf(column, (count) => count ?? 0))] as const;
  });
  return {
    isOn: parts.some(({ isOn }) => isOn),
    nowMs: Math.max(...parts.map(({ nowMs }) => nowMs)),
    stepMs,
    sinceMs: firstOf(parts.map(({ sinceMs }) => sinceMs)),
    startsMs,
    counts: Object.fromEntries(counts),
    held: columnsOf(({ held }) => held).map((column) => sumOrNull(column)),
    ageMs: columnsOf(({ ageMs }) => ageMs).map(largestOf),
    p50Ms: columnsOf(({ p50Ms }) => p50Ms).map(largestOf),
    p99Ms: columnsOf(({ p99Ms }) => p99Ms).map(largestOf),
    took: {
      tookMs: sumOfLists(parts.map(({ took }) => took.tookMs)),
      p50Ms: largestOf(parts.map(({ took }) => took.p50Ms)),
      p99Ms: largestOf(parts.map(({ took }) => took.p99Ms)),
      longestMs: largestOf(parts.map(({ took }) => took.longestMs)),
    },
    marks: mergedMarks(parts.map(({ marks }) => marks)),
  };
}

/** Adds the counts of a column; `null` where no shard has one. */
function sumOrNull(column: readonly (number | null | undefined)[]): number | null {
  const known = column.filter((count) => count != null);
  return known.length === 0 ? null : sumOf(known, (count) => count);
}

/** Leaves out a mark that another shard has set at about the same time. */
function mergedMarks(parts: readonly (readonly FiguresMark[])[]): FiguresMark[] {
  const marks: (FiguresMark & { readonly shard: number })[] = [];
  const all = parts.flatMap((list, shard) => list.map((mark) => ({ ...mark, shard })));
  for (const mark of all.sort((a, b) => a.atMs - b.atMs)) {
    const isSame = marks.some(
      ({ kind, byMs, atMs, shard }) =>
        kind === mark.kind && byMs === mark.byMs && shard !== mark.shard && mark.atMs - atMs < SAME_MARK_MS,
    );
    if (!isSame) marks.push(mark);
  }
  return marks.slice(-FIGURES_MARKS_MAX).map(({ shard: _, ...mark }) => mark);
}

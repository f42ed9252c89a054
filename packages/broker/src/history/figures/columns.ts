import type { FiguresReply, HistoryKind } from "@sluice/protocol";
import { addBucket, type Bucket, copyOf, type Level, newBucket, tookUpTo } from "./bucket.ts";

/** Columns of an answer, and what all of them have together. */
export type Columns = Pick<
  FiguresReply,
  "startsMs" | "counts" | "held" | "ageMs" | "p50Ms" | "p99Ms" | "took"
>;

export interface ColumnsOptions {
  /** Length of a bucket, in ms. */
  readonly unitMs: number;
  /** Length of a column, in ms: a multiple of `unitMs`. */
  readonly stepMs: number;
  readonly columns: number;
  readonly nowMs: number;
  /** State of the queue now. */
  readonly level: Level;
}

interface Column {
  readonly startMs: number;
  /** `null` without a bucket. */
  readonly sum: Bucket | null;
}

/**
 * Puts buckets into columns up to now. Pure. Time that never passed because the clock was moved has no column.
 *
 * @param newestFirst is read as far as the columns go.
 */
export function columnsOf(newestFirst: Iterable<Bucket>, options: ColumnsOptions): Columns {
  const { all, before } = gather(newestFirst, options);
  const kinds = new Set(all.flatMap(({ sum }) => Object.keys(sum?.counts ?? {}) as HistoryKind[]));
  const took = newBucket(0);
  for (const { sum } of all) if (sum !== null) addBucket(took, sum);
  return {
    startsMs: all.map(({ startMs }) => startMs),
    counts: Object.fromEntries(
      [...kinds].map((kind) => [kind, all.map(({ sum }) => sum?.counts[kind] ?? 0)]),
    ),
    ...levelsOf(all, before, options),
    p50Ms: all.map(({ sum }) => tookUpTo(sum, 0.5)),
    p99Ms: all.map(({ sum }) => tookUpTo(sum, 0.99)),
    took: {
      tookMs: took.tookMs ?? [],
      p50Ms: tookUpTo(took, 0.5),
      p99Ms: tookUpTo(took, 0.99),
      longestMs: took.tookMaxMs ?? null,
    },
  };
}

/** Sums up the buckets of each column, oldest first. `before` is the last bucket before the columns. */
function gather(
  newestFirst: Iterable<Bucket>,
  { unitMs, stepMs, columns, nowMs }: ColumnsOptions,
): { readonly all: readonly Column[]; readonly before: Bucket | null } {
  const buckets = newestFirst[Symbol.iterator]();
  let next = buckets.next();
  const all: Column[] = [];
  for (let startMs = Math.floor(nowMs / stepMs) * stepMs; ; ) {
    let sum: Bucket | null = null;
    for (; !next.done && next.value.at * unitMs >= startMs; next = buckets.next()) {
      if (sum === null) sum = copyOf(next.value);
      else addBucket(sum, next.value, false);
    }
    all.push({ startMs, sum });
    if (all.length === columns) break;
    // A move of the clock ends in its column, and has no columns for the time that it skipped.
    startMs -= Math.max(1, Math.floor((sum?.movedMs ?? 0) / stepMs)) * stepMs;
  }
  return { all: all.reverse(), before: next.done ? null : next.value };
}

/** Levels stay what they were until another one is known, while the oldest message grows older. */
function levelsOf(
  all: readonly Column[],
  before: Bucket | null,
  { stepMs, nowMs, level: now }: ColumnsOptions,
): Pick<Columns, "held" | "ageMs"> {
  // Without any bucket nothing has changed.
  const isSame = before === null && all.every(({ sum }) => sum === null);
  let level: Level | null = before === null ? (isSame ? now : null) : levelOf(before);
  const held: (number | null)[] = [];
  const ageMs: (number | null)[] = [];
  for (const [i, { startMs, sum }] of all.entries()) {
    if (i === all.length - 1) level = now;
    else if (sum !== null) level = levelOf(sum);
    held.push(level === null ? null : Math.max(sum?.heldMax ?? 0, level.held));
    const endMs = Math.min(startMs + stepMs, nowMs);
    ageMs.push(level === null ? null : Math.max(0, sum?.ageMaxMs ?? 0, endMs - (level.oldestMs ?? endMs)));
  }
  return { held, ageMs };
}

function levelOf({ held, oldestMs }: Bucket): Level {
  return { held, oldestMs: oldestMs ?? null };
}

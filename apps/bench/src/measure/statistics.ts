/** Latencies of one run, in ms. */
export interface Latency {
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Smallest value that is not below `share` of the values (nearest rank): of 100 values, the 99th for 0.99. `NaN` of no
 * values.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** The middle value, or the mean of the middle two. `NaN` of no values. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const low = sorted[(sorted.length - 1) >> 1] ?? Number.NaN;
  const high = sorted[sorted.length >> 1] ?? Number.NaN;
  return (low + high) / 2;
}

/** Medians of figures of one shape, each by itself; `null` where any of them is. */
export function medians<Figures>(all: readonly Figures[]): Figures {
  const [first] = all;
  if (all.includes(null as Figures)) return null as Figures;
  if (typeof first === "number") return median(all as readonly number[]) as Figures;
  if (typeof first !== "object" || first === null) return null as Figures;
  const of = (key: string) => medians(all.map((figures) => figures[key as keyof Figures]));
  return Object.fromEntries(Object.keys(first).map((key) => [key, of(key)])) as Figures;
}

/** Mean of the values; `NaN` of no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function latency(values: readonly number[]): Latency {
  return { meanMs: mean(values), p50Ms: percentile(values, 0.5), p99Ms: percentile(values, 0.99) };
}

/** Adds amounts. */
export function sumOf<Part>(parts: readonly Part[], amountOf: (part: Part) => number): number {
  return parts.reduce((sum, part) => sum + amountOf(part), 0);
}

/** Finds the first of several times in ms; `null` where none is known. */
export function firstOf(times: readonly (number | null | undefined)[]): number | null {
  const known = times.filter((time) => time != null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Finds the largest of several amounts; `null` where none is known. */
export function largestOf(amounts: readonly (number | null | undefined)[]): number | null {
  const known = amounts.filter((amount) => amount != null);
  return known.length === 0 ? null : Math.max(...known);
}

/** Time of the oldest message that waits, in ms; 0 when none does. */
export function oldestOf(parts: readonly { readonly oldestMessageTimestampMs: number }[]): number {
  return firstOf(parts.map(({ oldestMessageTimestampMs: ms }) => (ms === 0 ? null : ms))) ?? 0;
}

/** Adds lists of counts, place by place. */
export function sumOfLists(lists: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length }, (_, i) => sumOf(lists, (list) => list[i] ?? 0));
}

/** Adds counts by their names. */
export function sumOfCounts<Name extends string>(
  parts: readonly Readonly<Partial<Record<Name, number>>>[],
): Partial<Record<Name, number>> {
  const sums: Partial<Record<Name, number>> = {};
  for (const part of parts) {
    for (const [name, count] of Object.entries(part) as [Name, number][]) {
      sums[name] = (sums[name] ?? 0) + count;
    }
  }
  return sums;
}

/** Leaves out values whose JSON is the same as that of an earlier one. */
export function withoutRepeats<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/**
 * Most characters that a similar name differs by, and the share of its characters from which it is no longer similar.
 */
const WRONG_MAX = 3;
const WRONG_SHARE = 0.6;

/** Suggests the names that are most similar to one that is not there, as the command line does; "" where none is. */
export function suggestion(name: string, names: readonly string[]): string {
  const known = names
    .map((other) => ({ other, wrong: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(
      ({ other, wrong }) => wrong <= WRONG_MAX && wrong < WRONG_SHARE * Math.max(name.length, other.length),
    );
  const least = Math.min(...known.map(({ wrong }) => wrong));
  const best = known.filter(({ wrong }) => wrong === least).map(({ other }) => `"${other}"`);
  return best.length === 0 ? "" : ` Did you mean ${best.sort().join(" or ")}?`;
}

/** Counts the characters to insert, leave out, replace or swap with the next one (optimal string alignment). */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > WRONG_MAX) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

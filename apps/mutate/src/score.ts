const FOUND: readonly string[] = ["Killed", "Timeout"];
const MISSED: readonly string[] = ["Survived", "NoCoverage"];

/**
 * Percentage of mutants that a test found, of all that one could have found: those that compile and are not ignored. Not
 * a number when there are none.
 */
export function scoreOf(statuses: readonly string[]): number {
  const count = (wanted: readonly string[]) => statuses.filter((status) => wanted.includes(status)).length;
  const found = count(FOUND);
  return (100 * found) / (found + count(MISSED));
}

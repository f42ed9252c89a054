import { CHECKERS } from "../checkers/index.ts";
import { type HistoryReport, runHistory } from "../history/history.ts";
import type { PlantedBug } from "../world/planted-bug.ts";

/**
 * Runs histories with a planted bug, from seed `from` on, until the checker of the property that it breaks finds it.
 * The other checkers are off: each has to be able to fail by itself.
 *
 * @returns the history that found it, `null` if none of `seedsMax` did.
 */
export async function hunt(bug: PlantedBug, seedsMax: number, from = 1): Promise<HistoryReport | null> {
  const checkers = CHECKERS.filter(({ property }) => property === bug.property);
  for (let seed = from; seed < from + seedsMax; seed++) {
    const report = await runHistory(seed, { bug, checkers });
    if (report.violation !== null) return report;
  }
  return null;
}

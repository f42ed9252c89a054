import { CHECKERS } from "../checkers/index.ts";
import { type HistoryReport, runHistory } from "../history/history.ts";
import { runShardHistory } from "../shards/shard-history.ts";
import { SHARD_PROPERTIES } from "../shards/shard-properties.ts";
import { shardSeed } from "../shards/shard-scenario.ts";
import type { PlantedBug } from "../world/planted-bug.ts";

/**
 * Runs histories with a planted bug, from seed `from` on, until the checker of the property that it breaks finds it.
 * The other checkers are off: each has to find its bugs alone. A bug of shards is hunted in histories with shards;
 * `from` is then the number of the first one among these.
 *
 * @returns the history that found the bug; `null` if none of `seedsMax` did.
 */
export async function hunt(bug: PlantedBug, seedsMax: number, from = 1): Promise<HistoryReport | null> {
  const isOfShards = SHARD_PROPERTIES.some((property) => property === bug.property);
  const checkers = isOfShards
    ? [{ property: bug.property }]
    : CHECKERS.filter(({ property }) => property === bug.property);
  for (let number = from; number < from + seedsMax; number++) {
    const report = isOfShards
      ? await runShardHistory(shardSeed(number), { bug, checkers })
      : await runHistory(number, { bug, checkers });
    if (report.violation !== null) return report;
  }
  return null;
}

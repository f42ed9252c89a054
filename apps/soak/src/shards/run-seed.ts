import { type HistoryOptions, type HistoryReport, runHistory } from "../history/history.ts";
import { runShardHistory } from "./shard-history.ts";
import { hasShards } from "./shard-scenario.ts";

/** Runs the history of a seed: of a queue with shards, or of queues without. */
export function runSeed(seed: number, options: HistoryOptions = {}): Promise<HistoryReport> {
  return hasShards(seed) ? runShardHistory(seed, options) : runHistory(seed, options);
}

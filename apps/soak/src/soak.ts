import { type HistoryReport, noOutcomes, OUTCOME_KINDS, type Outcomes } from "./history/history.ts";
import { runSeed } from "./shards/run-seed.ts";
import { type FaultCounts, noFaults } from "./world/faults.ts";

/** Violations after which a run stops: they are likely to have one cause. */
const VIOLATIONS_MAX = 10;

export interface SoakOptions {
  /** First seed. */
  readonly from: number;
  /** Number of histories. */
  readonly seeds: number;
  /** Whether the history of a seed is run. Default: each is. */
  isChosen?(seed: number): boolean;
  /** Time after which the run ends early, in ms. */
  readonly forMs: number;
  /** Called about once a second. */
  progress?(totals: SoakTotals): void;
}

export interface SoakTotals {
  histories: number;
  events: number;
  /** Most events of one history. */
  eventsMax: number;
  readonly faults: FaultCounts;
  readonly outcomes: Outcomes;
  readonly violations: HistoryReport[];
  ms: number;
}

/** Runs histories one after the other. */
export async function soak({
  from,
  seeds,
  isChosen = () => true,
  forMs,
  progress,
}: SoakOptions): Promise<SoakTotals> {
  const totals: SoakTotals = {
    histories: 0,
    events: 0,
    eventsMax: 0,
    faults: noFaults(),
    outcomes: noOutcomes(),
    violations: [],
    ms: 0,
  };
  const startedMs = performance.now();
  let reportedMs = startedMs;
  for (let seed = from; totals.histories < seeds && totals.violations.length < VIOLATIONS_MAX; seed++) {
    if (!isChosen(seed)) continue;
    add(totals, await runSeed(seed));
    const nowMs = performance.now();
    totals.ms = nowMs - startedMs;
    if (totals.ms >= forMs) break;
    if (nowMs - reportedMs < 1_000) continue;
    reportedMs = nowMs;
    progress?.(totals);
    // Histories run in microtasks alone: without this turn of Node's event loop a run could not be interrupted.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return totals;
}

function add(totals: SoakTotals, report: HistoryReport): void {
  totals.histories += 1;
  totals.events += report.events;
  totals.eventsMax = Math.max(totals.eventsMax, report.events);
  for (const [kind, count] of Object.entries(report.faults))
    totals.faults[kind as keyof FaultCounts] += count;
  for (const kind of OUTCOME_KINDS) totals.outcomes[kind] += report.outcomes[kind];
  if (report.violation !== null) totals.violations.push(report);
}

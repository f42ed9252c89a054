import { setTimeout as sleep } from "node:timers/promises";
import { type Summary, summarise } from "../ledger/summary.ts";
import { damageLines, Scenario } from "./scenario.ts";

export interface FreezeOptions {
  readonly freezes: number;
  readonly seed: number;
  /** Longest time that the process stands still, in ms. The last freeze takes all of it. */
  readonly frozenMsMax: number;
  readonly onThaw?: (freezes: number, frozenMs: number) => void;
}

export interface FreezeResult extends Summary {
  readonly freezes: number;
  readonly frozenMs: number;
  readonly isDrained: boolean;
  readonly damageLines: readonly string[];
}

/** Load between two freezes, in ms. */
const LOAD_MS_MAX = 400;

/**
 * Stops workerd with SIGSTOP under load and lets it go on with SIGCONT. Handlers go on meanwhile, and producers wait for
 * their answers. Nothing dies, so not one message may come twice: the ledger takes every duplicate for a violation.
 */
export async function runFreezes({
  freezes,
  seed,
  frozenMsMax,
  onThaw,
}: FreezeOptions): Promise<FreezeResult> {
  const scenario = await Scenario.open(seed);
  const { random, ledger } = scenario;
  let totalMs = 0;
  try {
    const cluster = await scenario.start();
    scenario.startProducing();
    for (let freeze = 1; freeze <= freezes; freeze++) {
      await sleep(random.int(LOAD_MS_MAX / 4, LOAD_MS_MAX));
      const frozenMs = freeze === freezes ? frozenMsMax : random.int(1, frozenMsMax);
      cluster.freeze();
      await sleep(frozenMs);
      cluster.thaw();
      totalMs += frozenMs;
      onThaw?.(freeze, frozenMs);
    }
    await sleep(LOAD_MS_MAX);
    const isDrained = await scenario.drain();
    return {
      ...summarise(ledger),
      freezes,
      frozenMs: totalMs,
      isDrained,
      damageLines: damageLines(scenario.lines),
    };
  } finally {
    await scenario.close();
  }
}

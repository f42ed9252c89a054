import { setTimeout as sleep } from "node:timers/promises";
import { SqsScenario, unexpectedLines } from "../sqs/sqs-scenario.ts";
import { type SqsSummary, summarise } from "../sqs/sqs-summary.ts";

export interface SqsFreezeOptions {
  readonly freezes: number;
  readonly seed: number;
  /** Longest time that the process stands still, in ms. The last freeze takes all of it. */
  readonly frozenMsMax: number;
  readonly onThaw?: (freezes: number, frozenMs: number) => void;
}

export interface SqsFreezeResult extends SqsSummary {
  readonly freezes: number;
  readonly frozenMs: number;
  readonly isDrained: boolean;
  readonly lines: readonly string[];
}

/** Load between two freezes, in ms. */
const LOAD_MS_MAX = 600;

/**
 * Stops the broker alone with SIGSTOP while clients of SQS use it, and lets it go on with SIGCONT. Visibility timeouts end
 * meanwhile, and clients wait.
 */
export async function runSqsFreezes(options: SqsFreezeOptions): Promise<SqsFreezeResult> {
  const { freezes, seed, frozenMsMax, onThaw } = options;
  const scenario = await SqsScenario.open(seed);
  const { random, books } = scenario;
  let totalMs = 0;
  try {
    await scenario.start();
    scenario.load();
    for (let freeze = 1; freeze <= freezes; freeze++) {
      await sleep(random.int(LOAD_MS_MAX / 4, LOAD_MS_MAX));
      const frozenMs = freeze === freezes ? frozenMsMax : random.int(1, frozenMsMax);
      scenario.life.freeze();
      await sleep(frozenMs);
      scenario.life.thaw();
      totalMs += frozenMs;
      onThaw?.(freeze, frozenMs);
    }
    await sleep(LOAD_MS_MAX);
    const isDrained = await scenario.drain();
    const lines = unexpectedLines(scenario.lines);
    return { ...summarise(books), freezes, frozenMs: totalMs, isDrained, lines };
  } finally {
    await scenario.close();
  }
}

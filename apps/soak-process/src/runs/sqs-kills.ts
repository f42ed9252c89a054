import { setTimeout as sleep } from "node:timers/promises";
import { SqsScenario, unexpectedLines } from "../sqs/sqs-scenario.ts";
import { type SqsSummary, summarise } from "../sqs/sqs-summary.ts";

export interface SqsKillOptions {
  readonly kills: number;
  readonly seed: number;
  /** Longest life between the first answer and the kill, in ms. Some lives end while they still recover. */
  readonly lifeMsMax: number;
  readonly onKill?: (kills: number) => void;
}

export interface SqsKillResult extends SqsSummary {
  readonly kills: number;
  /** Whether every queue was empty at the end. */
  readonly isDrained: boolean;
  /** Lines in which the broker speaks of damage or errors: a kill does none. */
  readonly lines: readonly string[];
}

/** Lives that are ended at once: recovery itself must survive a kill. */
const SHORT_LIVES = 0.2;

/** Kills the broker alone again and again while clients of SQS use it, and then receives what is left. */
export async function runSqsKills({
  kills,
  seed,
  lifeMsMax,
  onKill,
}: SqsKillOptions): Promise<SqsKillResult> {
  const scenario = await SqsScenario.open(seed);
  const { random, books } = scenario;
  try {
    for (let kill = 1; kill <= kills; kill++) {
      await scenario.start();
      scenario.load();
      await sleep(random.int(0, random.chance(SHORT_LIVES) ? 20 : lifeMsMax));
      await scenario.kill();
      onKill?.(kill);
    }
    await scenario.start();
    scenario.load();
    const isDrained = await scenario.drain();
    return { ...summarise(books), kills, isDrained, lines: unexpectedLines(scenario.lines) };
  } finally {
    await scenario.close();
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { type Summary, summarise } from "../ledger/summary.ts";
import { damageLines, Scenario } from "./scenario.ts";

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  /** Longest life between the first answer and the kill, in ms. Some lives end while they still recover. */
  readonly lifeMsMax: number;
  /** Called after every kill with the number of them. */
  readonly onKill?: (kills: number, scenario: Scenario) => void;
}

export interface KillResult extends Summary {
  readonly kills: number;
  /** Whether every queue was empty at the end. */
  readonly isDrained: boolean;
  /** Lines in which the broker speaks of damage: a kill does none. */
  readonly damageLines: readonly string[];
}

/** Lives that are ended at once: recovery itself must survive a kill. */
const SHORT_LIVES = 0.2;

/** Kills workerd again and again under load, and then delivers what is left. */
export async function runKills({ kills, seed, lifeMsMax, onKill }: KillOptions): Promise<KillResult> {
  const scenario = await Scenario.open(seed);
  const { random, ledger } = scenario;
  try {
    for (let kill = 1; kill <= kills; kill++) {
      await scenario.start();
      scenario.startProducing();
      await sleep(random.int(0, random.chance(SHORT_LIVES) ? 20 : lifeMsMax));
      await scenario.kill();
      onKill?.(kill, scenario);
    }
    await scenario.start();
    const isDrained = await scenario.drain();
    return { ...summarise(ledger), kills, isDrained, damageLines: damageLines(scenario.lines) };
  } finally {
    await scenario.close();
  }
}

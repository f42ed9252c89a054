import { setTimeout as sleep } from "node:timers/promises";
import type { Tally } from "@sluice/harness/ledger";
import { conclude, type Ended, type OpenScenario, stored } from "../scenario/scenario.ts";

interface FreezeOptions<Summary extends Tally> {
  readonly open: OpenScenario<Summary>;
  readonly freezes: number;
  /** Longest time that the process stands still, in ms. The last freeze takes all of it. */
  readonly frozenMsMax: number;
  /** Fewest messages that are stored before each freeze. Default 0. */
  readonly storedMin?: number;
  readonly onThaw?: (freezes: number, frozenMs: number) => void;
}

/** Longest load between two freezes, in ms. */
const LOAD_MS_MAX = 600;

/**
 * Stops a broker with SIGSTOP under load and lets it go on with SIGCONT. Handlers and clients go on meanwhile, and wait
 * for their answers. No process dies, so in a ledger of Workers every duplicate is a violation. Messages of SQS may
 * come again, since their visibility timeouts end meanwhile.
 */
export async function runFreezes<Summary extends Tally>(
  options: FreezeOptions<Summary>,
): Promise<Ended<Summary> & { readonly frozenMs: number }> {
  const { open, freezes, frozenMsMax, storedMin = 0, onThaw } = options;
  const scenario = await open();
  const { random } = scenario;
  let totalMs = 0;
  try {
    await scenario.start();
    scenario.load();
    for (let freeze = 1; freeze <= freezes; freeze++) {
      await stored(scenario.ledger, storedMin);
      await sleep(random.between(LOAD_MS_MAX / 4, LOAD_MS_MAX));
      const frozenMs = freeze === freezes ? frozenMsMax : random.between(1, frozenMsMax);
      process.kill(scenario.pid, "SIGSTOP");
      await sleep(frozenMs);
      process.kill(scenario.pid, "SIGCONT");
      totalMs += frozenMs;
      onThaw?.(freeze, frozenMs);
    }
    await sleep(LOAD_MS_MAX);
    return { ...(await conclude(scenario)), frozenMs: totalMs };
  } finally {
    await scenario.close();
  }
}

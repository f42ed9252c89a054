import { setTimeout as sleep } from "node:timers/promises";
import type { Tally } from "@sluice/harness/ledger";
import { conclude, type Ended, type OpenScenario, stored } from "../scenario/scenario.ts";

interface KillOptions<Summary extends Tally> {
  readonly open: OpenScenario<Summary>;
  readonly kills: number;
  /** Longest epoch between the first answer and the kill, in ms. Some epochs end while they still recover. */
  readonly epochMsMax: number;
  /** Fewest messages that an epoch stores, unless it is killed at once. Default 0. */
  readonly storedMin?: number;
  /** Called after every kill with the number of them. */
  readonly onKill?: (kills: number) => void;
}

/** Share of epochs that are killed at once: recovery itself must survive a kill. */
const SHORT_EPOCHS = 0.2;

/** Kills a broker again and again under load, and then takes the messages that are left. */
export async function runKills<Summary extends Tally>(
  options: KillOptions<Summary>,
): Promise<Ended<Summary>> {
  const { open, kills, epochMsMax, storedMin = 0, onKill } = options;
  const scenario = await open();
  const { random } = scenario;
  try {
    for (let kill = 1; kill <= kills; kill++) {
      await scenario.start();
      scenario.load();
      const isShort = random.chance(SHORT_EPOCHS);
      if (!isShort) await stored(scenario.ledger, storedMin);
      await sleep(random.between(0, isShort ? 20 : epochMsMax));
      await scenario.kill();
      onKill?.(kill);
    }
    await scenario.start();
    scenario.load();
    return await conclude(scenario);
  } finally {
    await scenario.close();
  }
}

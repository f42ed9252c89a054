import { setTimeout as sleep } from "node:timers/promises";
import { type Summary, summarise } from "../ledger/summary.ts";
import { Scenario } from "./scenario.ts";
import { SmallDisk } from "./small-disk.ts";
import { until } from "./until.ts";

export interface DiskFullOptions {
  readonly times: number;
  readonly seed: number;
  readonly onTime?: (times: number, refused: number) => void;
}

export interface DiskFullResult extends Summary {
  readonly times: number;
  readonly isDrained: boolean;
  /** Times at which sends went through again when there was room. */
  readonly resumed: number;
  /** What refused sends were told, each text once. */
  readonly refusals: readonly string[];
}

/** Most room that is left when the disk is filled, in bytes: some commits still fit, or none does. */
const FREE_BYTES_MAX = 400_000;
/** Longest load between two times, in ms. */
const LOAD_MS_MAX = 500;
/** Longest that it may take until a full disk is noticed, and until one with room is, in ms. */
const NOTICED_MS_MAX = 30_000;
/** Sends that are refused before there is room again. */
const REFUSED = 50;

/**
 * Fills the disk under load and makes room again, again and again. Sends are refused meanwhile, deliveries may come twice,
 * and nothing that was acknowledged may be lost. Throws where no disk can be mounted.
 */
export async function runDiskFull({ times, seed, onTime }: DiskFullOptions): Promise<DiskFullResult> {
  const disk = await SmallDisk.mount();
  const scenario = await Scenario.open(seed, disk.folder);
  const { ledger, random } = scenario;
  const count = (outcome: "acknowledged" | "refused") =>
    ledger.messages.reduce((sum, message) => sum + (message.outcome === outcome ? 1 : 0), 0);
  let resumed = 0;
  try {
    await scenario.start();
    ledger.objectsMayReset = true;
    scenario.startProducing();
    for (let time = 1; time <= times; time++) {
      await sleep(random.int(LOAD_MS_MAX / 4, LOAD_MS_MAX));
      const refused = count("refused");
      await disk.fill(random.int(0, FREE_BYTES_MAX));
      await until(() => count("refused") >= refused + REFUSED, NOTICED_MS_MAX);
      await disk.giveRoom();
      const acknowledged = count("acknowledged");
      if (await until(() => count("acknowledged") > acknowledged, NOTICED_MS_MAX)) resumed += 1;
      onTime?.(time, count("refused") - refused);
    }
    const isDrained = await scenario.drain();
    return { ...summarise(ledger), times, isDrained, resumed, refusals: [...ledger.refusals] };
  } finally {
    await scenario.close();
    await disk.unmount();
  }
}

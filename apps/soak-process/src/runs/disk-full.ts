import { setTimeout as sleep } from "node:timers/promises";
import type { Tally } from "@sluice/harness/ledger";
import { conclude, damageLines, type Ended, type OpenScenario, until } from "../scenario/scenario.ts";
import { SmallDisk } from "./small-disk.ts";

interface DiskFullOptions<Summary extends Tally> {
  readonly open: OpenScenario<Summary>;
  /** Number of times that the disk is filled. */
  readonly times: number;
  /** Share of the times at which the process is killed while the disk is full, and started again once there is room. */
  readonly killedShare: number;
  /** Called each time there is room again, with the number of refusals meanwhile. */
  readonly onTime?: (times: number, refused: number) => void;
}

type DiskFullResult<Summary extends Tally> = Ended<Summary> & {
  /** Number of times that sends went through again once there was room. */
  readonly resumed: number;
  /** Texts of refusals, each once. */
  readonly refusals: readonly string[];
  /** Whether the process ended by itself: it must not. */
  readonly hasEnded: boolean;
};

/** Most room that is left when the disk is filled, in bytes: some commits still fit, or none does. */
const FREE_BYTES_MAX = 400_000;
/** Share of the times at which no room is left. */
const NONE_LEFT = 0.5;
/** Longest load between two times, in ms. */
const LOAD_MS_MAX = 500;
/** Longest time until the broker notices that its disk is full, or has room again, in ms. */
const NOTICED_MS_MAX = 30_000;
/** Share of the times at which the broker alone is killed while its disk is full. */
export const SQS_KILLED_SHARE = 0.25;
/** Number of refusals that are awaited before there is room again. */
const REFUSED = 50;

/**
 * Fills the disk of a broker under load and makes room again, many times. Sends are refused meanwhile, no acknowledged
 * message may be lost, and the process must go on. Of its lines those about damage or loss count alone: errors of a full
 * disk are expected. Throws if no disk can be mounted.
 */
export async function runDiskFull<Summary extends Tally>(
  options: DiskFullOptions<Summary>,
): Promise<DiskFullResult<Summary>> {
  const { open, times, killedShare, onTime } = options;
  const disk = await SmallDisk.mount();
  const scenario = await open(disk.folder).catch(async (error: unknown) => {
    await disk.unmount();
    throw error;
  });
  const { ledger, random } = scenario;
  const acknowledged = () => ledger.messages.filter(({ outcome }) => outcome === "acknowledged").length;
  let [resumed, hasEnded] = [0, false];
  try {
    await scenario.start();
    scenario.load();
    for (let time = 1; time <= times; time++) {
      await sleep(random.between(LOAD_MS_MAX / 4, LOAD_MS_MAX));
      const refused = scenario.refusedCount;
      await disk.fill(random.chance(NONE_LEFT) ? 0 : random.between(0, FREE_BYTES_MAX));
      await until(() => scenario.refusedCount >= refused + REFUSED, NOTICED_MS_MAX);
      hasEnded ||= await scenario.hasEnded();
      const isKilled = random.chance(killedShare);
      if (isKilled) await scenario.kill();
      await disk.giveRoom();
      if (isKilled) {
        await scenario.start();
        scenario.load();
      }
      const before = acknowledged();
      if (await until(() => acknowledged() > before, NOTICED_MS_MAX)) resumed += 1;
      onTime?.(time, scenario.refusedCount - refused);
    }
    const ended = await conclude(scenario);
    hasEnded ||= await scenario.hasEnded();
    return { ...ended, lines: damageLines(ended.lines), resumed, hasEnded, refusals: [...ledger.refusals] };
  } finally {
    await scenario.close().finally(() => disk.unmount());
  }
}

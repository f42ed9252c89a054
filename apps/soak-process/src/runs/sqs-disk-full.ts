import { setTimeout as sleep } from "node:timers/promises";
import { SqsScenario } from "../sqs/sqs-scenario.ts";
import { type SqsSummary, summarise } from "../sqs/sqs-summary.ts";
import { SmallDisk } from "./small-disk.ts";
import { until } from "./until.ts";

export interface SqsDiskFullOptions {
  /** How often the disk is filled. */
  readonly times: number;
  readonly seed: number;
  /** Called every time there is room again, with the calls that were refused meanwhile. */
  readonly onTime?: (times: number, refused: number) => void;
}

export interface SqsDiskFullResult extends SqsSummary {
  readonly times: number;
  readonly isDrained: boolean;
  /** Times at which sends went through again when there was room. */
  readonly resumed: number;
  /** What calls were refused with, each text once. */
  readonly refusals: readonly string[];
  /** Whether the process ended by itself: it must not. */
  readonly hasEnded: boolean;
}

/** Most room that is left when the disk is filled, in bytes: some commits still fit, or none does. */
const FREE_BYTES_MAX = 400_000;
/** Of so many times the process is killed while the disk is full, and started again once there is room. */
const KILLED = 0.25;
/** Longest load between two times, in ms. */
const LOAD_MS_MAX = 500;
/** Longest that it may take until a full disk is noticed, and until one with room is, in ms. */
const NOTICED_MS_MAX = 30_000;
/** Calls that are refused before there is room again. */
const REFUSED = 50;

/**
 * Fills the disk of the broker alone while clients of SQS use it, and makes room again, again and again. Nothing that was
 * acknowledged may be lost, and the process goes on. Throws where no disk can be mounted.
 */
export async function runSqsDiskFull(options: SqsDiskFullOptions): Promise<SqsDiskFullResult> {
  const { times, seed, onTime } = options;
  const disk = await SmallDisk.mount();
  const scenario = await SqsScenario.open(seed, disk.folder);
  const { books, random } = scenario;
  const acknowledged = () =>
    books.messages.reduce((sum, { outcome }) => sum + (outcome === "acknowledged" ? 1 : 0), 0);
  let [resumed, hasEnded] = [0, false];
  try {
    await scenario.start();
    scenario.load();
    for (let time = 1; time <= times; time++) {
      await sleep(random.int(LOAD_MS_MAX / 4, LOAD_MS_MAX));
      const refused = books.refused;
      await disk.fill(random.chance(0.5) ? 0 : random.int(0, FREE_BYTES_MAX));
      await until(() => books.refused >= refused + REFUSED, NOTICED_MS_MAX);
      hasEnded ||= scenario.life.ended !== null;
      const isKilled = random.chance(KILLED);
      if (isKilled) await scenario.kill();
      await disk.giveRoom();
      if (isKilled) {
        await scenario.start();
        scenario.load();
      }
      const before = acknowledged();
      if (await until(() => acknowledged() > before, NOTICED_MS_MAX)) resumed += 1;
      onTime?.(time, books.refused - refused);
    }
    const isDrained = await scenario.drain();
    hasEnded ||= scenario.life.ended !== null;
    const refusals = [...books.refusals];
    return { ...summarise(books), times, isDrained, resumed, refusals, hasEnded };
  } finally {
    await scenario.close();
    await disk.unmount();
  }
}

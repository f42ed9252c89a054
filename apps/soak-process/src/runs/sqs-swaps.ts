import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { conclude, type Ended, stored } from "../scenario/scenario.ts";
import type { SqsSummary } from "../sqs/receive-ledger.ts";
import { SqsScenario } from "../sqs/sqs-scenario.ts";
import { makeWorker } from "./idle-worker.ts";

interface SqsSwapOptions {
  readonly swaps: number;
  readonly seed: number;
  /** Longest epoch between the first answer and its end, in ms. */
  readonly epochMsMax: number;
  /** Fewest messages that each epoch stores. Default 0. */
  readonly storedMin?: number;
  readonly onSwap?: (swaps: number) => void;
}

/** Share of epochs that are stopped by a signal; the others are killed. */
const STOPPED = 0.2;

/**
 * Runs the broker in its own process and on workerd in turn, on the same data, with clients of SQS: each goes on with
 * the files that the other has left when it was killed or stopped.
 */
export async function runSqsSwaps({
  swaps,
  seed,
  epochMsMax,
  storedMin = 0,
  onSwap,
}: SqsSwapOptions): Promise<Ended<SqsSummary>> {
  const worker = await makeWorker();
  const scenario = await SqsScenario.open(seed);
  const { random } = scenario;
  try {
    for (let swap = 1; swap <= swaps; swap++) {
      await scenario.start(swap % 2 === 0 ? { worker } : {});
      scenario.load();
      await stored(scenario.ledger, storedMin);
      await sleep(random.between(0, epochMsMax));
      if (random.chance(STOPPED)) await scenario.stop();
      else await scenario.kill();
      onSwap?.(swap);
    }
    await scenario.start(swaps % 2 === 0 ? {} : { worker });
    scenario.load();
    return await conclude(scenario);
  } finally {
    await scenario.close();
    await rm(worker, { recursive: true, force: true });
  }
}

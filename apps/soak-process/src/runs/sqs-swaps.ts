import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SqsScenario, unexpectedLines } from "../sqs/sqs-scenario.ts";
import { type SqsSummary, summarise } from "../sqs/sqs-summary.ts";

export interface SqsSwapOptions {
  readonly swaps: number;
  readonly seed: number;
  /** Longest life between the first answer and its end, in ms. */
  readonly lifeMsMax: number;
  readonly onSwap?: (swaps: number) => void;
}

export interface SqsSwapResult extends SqsSummary {
  readonly swaps: number;
  readonly isDrained: boolean;
  readonly lines: readonly string[];
}

/** Of so many lives the end is asked for; the others are killed. */
const STOPPED = 0.2;

/**
 * Runs the broker in its own process and on workerd in turn, on the same data: each goes on with what the other has left when it
 * was killed, or stopped, while clients of SQS used it.
 */
export async function runSqsSwaps({
  swaps,
  seed,
  lifeMsMax,
  onSwap,
}: SqsSwapOptions): Promise<SqsSwapResult> {
  const worker = await makeWorker();
  const scenario = await SqsScenario.open(seed);
  const { random, books } = scenario;
  try {
    for (let swap = 1; swap <= swaps; swap++) {
      await scenario.start(swap % 2 === 0 ? worker : undefined);
      scenario.load();
      await sleep(random.int(0, lifeMsMax));
      if (random.chance(STOPPED)) await scenario.stop();
      else await scenario.kill();
      onSwap?.(swap);
    }
    await scenario.start(swaps % 2 === 0 ? undefined : worker);
    scenario.load();
    const isDrained = await scenario.drain();
    return { ...summarise(books), swaps, isDrained, lines: unexpectedLines(scenario.lines) };
  } finally {
    await scenario.close();
    await rm(worker, { recursive: true, force: true });
  }
}

/** A Worker that has nothing to do with the queues: with one the broker runs on workerd. */
async function makeWorker(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-soak-worker-"));
  const config = { name: "idle", main: "index.js", compatibility_date: "2026-11-01" };
  await writeFile(path.join(folder, "wrangler.json"), JSON.stringify(config));
  await writeFile(path.join(folder, "index.js"), 'export default { fetch: () => new Response("idle") };\n');
  return folder;
}

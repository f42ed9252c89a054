import path from "node:path";
import { type Latency, latency } from "../measure/statistics.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import type { Costs } from "./costs.ts";
import { type Poster, type Sends, startPoster } from "./poster.ts";
import { type StepCosts, stepCosts } from "./step-costs.ts";

/** Numbers of shards that are measured. */
export const SHARDS_MEASURED = [1, 2, 4, 8] as const;
/** Calls that are under way to each object at a time. */
export const CALLS_AT_ONCE = 64;
/** Messages of a large call. */
export const MESSAGES_TOGETHER = 100;
/** Length of the warm-up before a run, as a share of the run. */
const WARM_UP_SHARE = 0.5;

/** Figures of sends to several shards at once. */
export interface MeasuredShards {
  readonly where: "one process" | "a process each";
  readonly shards: number;
  /** Durable messages a second, of all shards together. */
  readonly perSecond: number;
  readonly call: Latency;
  readonly cpuMicrosPerMessage: number;
  readonly callsPerCommit: number;
}

export interface MeasuredScale {
  readonly steps: StepCosts;
  readonly costs: Costs;
  readonly shards: readonly MeasuredShards[];
}

/** Measures the costs of the steps of a send, and sends to several shards. */
export async function measureScale(runMs: number, say: (line: string) => void): Promise<MeasuredScale> {
  const steps = await withPosters([1], async ([poster]) => {
    const run = (calls: number, messages: number) => warmed(poster as Poster, calls, messages, runMs);
    say("one call with one message at a time");
    const single = await run(1, 1);
    say(`${CALLS_AT_ONCE} calls at once`);
    const atOnce = await run(CALLS_AT_ONCE, 1);
    say(`one call with ${MESSAGES_TOGETHER} messages at a time`);
    const together = await run(1, MESSAGES_TOGETHER);
    return stepCosts({ single, atOnce, together });
  });
  const shards: MeasuredShards[] = [];
  for (const count of SHARDS_MEASURED) {
    for (const where of ["one process", "a process each"] as const) {
      say(`${count} shards, ${where}`);
      const processes = where === "one process" ? [count] : Array<number>(count).fill(1);
      const runs = await withPosters(processes, (posters) =>
        Promise.all(posters.map((poster) => warmed(poster, CALLS_AT_ONCE, 1, runMs))),
      );
      shards.push(measuredShards(where, count, runs));
    }
  }
  return { steps, costs: steps, shards };
}

async function warmed(poster: Poster, calls: number, messages: number, runMs: number): Promise<Sends> {
  await poster.post(calls, messages, WARM_UP_SHARE * runMs);
  return poster.post(calls, messages, runMs);
}

/** Starts a process for each number of objects, and stops them. */
async function withPosters<Result>(
  objects: readonly number[],
  work: (posters: readonly Poster[]) => Promise<Result>,
): Promise<Result> {
  const folder = await temporaryFolder("scale");
  const posters: Poster[] = [];
  try {
    for (const [i, count] of objects.entries())
      posters.push(await startPoster(path.join(folder, `${i}`), count));
    return await work(posters);
  } finally {
    for (const poster of posters) await poster.stop();
    await removeFolder(folder);
  }
}

function measuredShards(
  where: MeasuredShards["where"],
  shards: number,
  runs: readonly Sends[],
): MeasuredShards {
  const sum = (of: (sends: Sends) => number) => runs.reduce((total, sends) => total + of(sends), 0);
  return {
    where,
    shards,
    perSecond: sum(({ messages, tookMs }) => (1_000 * messages) / tookMs),
    call: latency(runs.flatMap(({ callMs }) => callMs)),
    cpuMicrosPerMessage: (1_000 * sum(({ cpuMs }) => cpuMs ?? Number.NaN)) / sum(({ messages }) => messages),
    callsPerCommit: sum(({ calls }) => calls) / sum(({ commits }) => commits),
  };
}

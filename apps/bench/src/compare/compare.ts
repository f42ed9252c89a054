import { medians } from "../measure/statistics.ts";
import { cpuMs } from "../process/processes.ts";
import { count } from "../report/figures.ts";
import type { RunningSystem, System } from "../systems/system.ts";
import type { Measured } from "../workload/run.ts";
import type { Way } from "../workload/ways.ts";
import type { Case } from "./cases.ts";
import { type WarmUpOptions, warmUp } from "./warm-up.ts";

interface CompareOptions<W extends string = Way> extends WarmUpOptions {
  readonly systems: readonly System<W>[];
  readonly cases: readonly Case<W>[];
  /** Runs of each case whose median counts. */
  readonly runs: number;
  readonly mayInstall: boolean;
  /** Reports progress, not results. */
  readonly say: (line: string) => void;
}

/** Figures of one run, or the medians of several, with their CPU time. */
export interface Run extends Measured {
  /** CPU time of all processes of the system, client included, per message in µs; `null` where it cannot be read. */
  readonly cpuMicrosPerMessage: number | null;
}

/** One case on one system. */
export type Outcome =
  | { readonly kind: "measured"; readonly summary: Run }
  | { readonly kind: "failed"; readonly reason: string };

export interface Comparison<W extends string = Way> {
  readonly system: System<W>;
  readonly testCase: Case<W>;
  readonly outcome: Outcome;
}

type Started<W extends string> =
  | { readonly kind: "running"; readonly system: System<W>; readonly running: RunningSystem<W> }
  | { readonly kind: "failed"; readonly system: System<W>; readonly reason: string };

/**
 * Measures every case on every system. All systems run all the time and take turns, run by run, in an order that is
 * reversed each time, so that other work of the machine affects all of them alike.
 */
export async function compare<W extends string>(options: CompareOptions<W>): Promise<Comparison<W>[]> {
  // Systems can start at the same time, but are installed one by one: package managers lock.
  const missing: (string | null)[] = [];
  for (const system of options.systems) missing.push(await install(system, options));
  const started = await Promise.all(
    options.systems.map((system, i) => start(system, missing[i] ?? null, options)),
  );
  try {
    const comparisons: Comparison<W>[] = [];
    for (const testCase of options.cases)
      comparisons.push(...(await compareCase(testCase, started, options)));
    return comparisons;
  } finally {
    await stopAll(started, options);
  }
}

/** Installs a system. Resolves to the reason why that is impossible, or `null`. */
async function install<W extends string>(
  system: System<W>,
  { mayInstall }: CompareOptions<W>,
): Promise<string | null> {
  try {
    await system.install({ mayInstall });
    return null;
  } catch (error) {
    return describe(error);
  }
}

async function start<W extends string>(
  system: System<W>,
  missing: string | null,
  { say }: CompareOptions<W>,
): Promise<Started<W>> {
  const failed = (reason: string): Started<W> => {
    say(`${system.name} cannot run here: ${reason}`);
    return { kind: "failed", system, reason: firstLine(reason) };
  };
  if (missing !== null) return failed(missing);
  try {
    const running = await system.start();
    say(`${system.name} is running`);
    return { kind: "running", system, running };
  } catch (error) {
    return failed(describe(error));
  }
}

/** Stops every system, also if some of them cannot be stopped. */
async function stopAll<W extends string>(
  started: readonly Started<W>[],
  { say }: CompareOptions<W>,
): Promise<void> {
  for (const each of started) {
    if (each.kind === "failed") continue;
    const { system, running } = each;
    await running
      .stop()
      .catch((error: unknown) => say(`${system.name} cannot be stopped: ${describe(error)}`));
  }
}

async function compareCase<W extends string>(
  testCase: Case<W>,
  started: readonly Started<W>[],
  options: CompareOptions<W>,
): Promise<Comparison<W>[]> {
  const { runs, say } = options;
  say(testCase.title);
  const lanes = started.map((each) => {
    const reason = each.kind === "failed" ? each.reason : null;
    return { each, messages: 0, runs: [] as Run[], reason };
  });
  for (let round = -1; round < runs; round++) {
    // The order is reversed each round: work that one system leaves behind slows the next one.
    for (const lane of round % 2 === 0 ? lanes.toReversed() : lanes) {
      const { each } = lane;
      if (lane.reason !== null || each.kind === "failed") continue;
      try {
        if (round === -1) lane.messages = await warmUp(each.running, testCase, options);
        else lane.runs.push(await measureRun(each.running, testCase, lane.messages));
      } catch (error) {
        lane.reason = firstLine(String(error));
      }
    }
  }
  return lanes.map(({ each, runs: measured, reason }) => {
    const outcome: Outcome =
      reason === null ? { kind: "measured", summary: medians(measured) } : { kind: "failed", reason };
    say(`  ${each.system.name}: ${outcome.kind === "measured" ? rates(outcome.summary) : outcome.reason}`);
    return { system: each.system, testCase, outcome };
  });
}

async function measureRun<W extends string>(
  running: RunningSystem<W>,
  { way }: Case<W>,
  messages: number,
): Promise<Run> {
  await running.prepare?.(way, messages);
  const beforeMs = await cpuMs(running.pids);
  const measured = await running.run(way, messages);
  const afterMs = await cpuMs(running.pids);
  const cpuMicrosPerMessage =
    beforeMs === null || afterMs === null ? null : (1000 * (afterMs - beforeMs)) / messages;
  return { ...measured, cpuMicrosPerMessage };
}

function rates({ sentPerSecond, handledPerSecond, messages }: Run): string {
  return `${count(sentPerSecond)} sent/s, ${count(handledPerSecond)} handled/s (${count(messages)} messages)`;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

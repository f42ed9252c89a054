import { cpuMs } from "../process/cpu-time.ts";
import type { RunningSystem, System } from "../systems/system.ts";
import { type Case, messagesFor } from "./cases.ts";
import { type Run, type Summary, summarize } from "./summary.ts";

export interface CompareOptions {
  readonly systems: readonly System[];
  readonly cases: readonly Case[];
  /** Runs of each case whose median counts. */
  readonly runs: number;
  /** Length of a run in seconds. */
  readonly runSeconds: number;
  /** Factor on the messages of warm-ups. */
  readonly warmUpScale: number;
  readonly mayInstall: boolean;
  /** Told what happens; progress, not results. */
  readonly say: (line: string) => void;
}

/** One case on one system. */
export type Outcome =
  | { readonly kind: "measured"; readonly summary: Summary }
  | { readonly kind: "failed"; readonly reason: string };

export interface Comparison {
  readonly system: System;
  readonly testCase: Case;
  readonly outcome: Outcome;
}

type Started =
  | { readonly kind: "running"; readonly system: System; readonly running: RunningSystem }
  | { readonly kind: "failed"; readonly system: System; readonly reason: string };

/**
 * Measures every case on every system. All systems are up all the time and take turns, run by run: what else happens on
 * the machine meanwhile hits them alike.
 */
export async function compare(options: CompareOptions): Promise<Comparison[]> {
  const started: Started[] = [];
  try {
    for (const system of options.systems) started.push(await start(system, options));
    const comparisons: Comparison[] = [];
    for (const testCase of options.cases)
      comparisons.push(...(await compareCase(testCase, started, options)));
    return comparisons;
  } finally {
    for (const each of started) if (each.kind === "running") await each.running.stop();
  }
}

async function start(system: System, { mayInstall, say }: CompareOptions): Promise<Started> {
  say(`starting ${system.name}`);
  try {
    await system.install({ mayInstall });
    return { kind: "running", system, running: await system.start() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`  it cannot run here: ${reason}`);
    return { kind: "failed", system, reason: firstLine(reason) };
  }
}

async function compareCase(
  testCase: Case,
  started: readonly Started[],
  { runs, runSeconds, warmUpScale, say }: CompareOptions,
): Promise<Comparison[]> {
  say(testCase.title);
  const lanes = started.map((each) => ({ each, messages: 0, runs: [] as Run[], reason: reasonOf(each) }));
  for (let round = -1; round < runs; round++) {
    for (const lane of lanes) {
      const { each } = lane;
      if (lane.reason !== null || each.kind === "failed") continue;
      try {
        if (round === -1) lane.messages = await sizeRun(each.running, testCase, runSeconds, warmUpScale);
        else lane.runs.push(await measureRun(each.running, testCase, lane.messages));
      } catch (error) {
        lane.reason = firstLine(String(error));
      }
    }
  }
  return lanes.map(({ each, runs: measured, reason }) => {
    const outcome: Outcome =
      reason === null ? { kind: "measured", summary: summarize(measured) } : { kind: "failed", reason };
    say(`  ${each.system.name}: ${outcome.kind === "measured" ? rates(outcome.summary) : outcome.reason}`);
    return { system: each.system, testCase, outcome };
  });
}

/** Warms up, twice since the first time compiles, and tells how many messages make a run. */
async function sizeRun(
  running: RunningSystem,
  { way, warmUpMessages }: Case,
  runSeconds: number,
  warmUpScale: number,
): Promise<number> {
  const messages = Math.max(100, 100 * Math.round((warmUpMessages * warmUpScale) / 100));
  await running.run(way, messages);
  const { handledPerSecond } = await running.run(way, messages);
  return messagesFor(runSeconds, handledPerSecond);
}

async function measureRun(running: RunningSystem, { way }: Case, messages: number): Promise<Run> {
  const beforeMs = await cpuMs(running.pids);
  const measured = await running.run(way, messages);
  const afterMs = await cpuMs(running.pids);
  const cpuMicrosPerMessage =
    beforeMs === null || afterMs === null ? null : (1000 * (afterMs - beforeMs)) / messages;
  return { measured, cpuMicrosPerMessage };
}

function reasonOf(started: Started): string | null {
  return started.kind === "failed" ? started.reason : null;
}

function rates({ sentPerSecond, handledPerSecond, messages }: Summary): string {
  return `${Math.round(sentPerSecond)} sent/s, ${Math.round(handledPerSecond)} handled/s (${messages} messages)`;
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

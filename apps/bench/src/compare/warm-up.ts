import { median } from "../measure/statistics.ts";
import type { RunningSystem } from "../systems/system.ts";
import { rateOf } from "../workload/run.ts";
import { type Case, messagesFor } from "./cases.ts";

/** Number of latest runs that are compared with the runs before them. */
const SETTLED_RUNS = 3;
/** A system is warm when its fastest latest run is at most this much faster than the fastest run before. */
export const SETTLED_FACTOR = 1.03;

export interface WarmUpOptions {
  /** Length of a run in seconds. */
  readonly runSeconds: number;
  /** Most runs, even if each is faster than those before. */
  readonly warmUpsMax: number;
  /** Factor for the messages of the first run; each run determines the size of the next one. */
  readonly warmUpScale: number;
}

/**
 * Runs a case until it gets no faster: servers compile frequent code, some for a second and a Java virtual machine for
 * a quarter of a minute.
 *
 * @returns the number of messages of a run.
 */
export async function warmUp<W extends string>(
  running: Pick<RunningSystem<W>, "prepare" | "run">,
  { way, warmUpMessages, step }: Case<W>,
  { runSeconds, warmUpsMax, warmUpScale }: WarmUpOptions,
): Promise<number> {
  const rates: number[] = [];
  let messages = messagesFor(warmUpScale, warmUpMessages, step);
  while (rates.length < warmUpsMax && !isWarm(rates)) {
    await running.prepare?.(way, messages);
    const rate = rateOf(await running.run(way, messages));
    rates.push(rate);
    messages = messagesFor(runSeconds, rate, step);
  }
  return messagesFor(runSeconds, median(rates.slice(-SETTLED_RUNS)), step);
}

/** Whether the latest runs were hardly faster than the fastest before them. */
export function isWarm(rates: readonly number[]): boolean {
  const before = rates.slice(0, -SETTLED_RUNS);
  if (before.length === 0) return false;
  return Math.max(...rates.slice(-SETTLED_RUNS)) <= SETTLED_FACTOR * Math.max(...before);
}

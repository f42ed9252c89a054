import { type Latency, medians } from "../measure/statistics.ts";
import type { Measured } from "../workload/run.ts";

/** One run, and what it cost. */
export interface Run {
  readonly measured: Measured;
  /** CPU time of all processes of the system, client included, per message in µs; `null` where it cannot be read. */
  readonly cpuMicrosPerMessage: number | null;
}

/** Medians of the runs of one case on one system. */
export interface Summary {
  readonly messages: number;
  readonly sentPerSecond: number;
  readonly handledPerSecond: number;
  readonly call: Latency;
  readonly endToEnd: Latency;
  readonly cpuMicrosPerMessage: number | null;
}

export function summarize(runs: readonly Run[]): Summary {
  const { measured, cpuMicrosPerMessage } = medians(runs);
  return { ...measured, cpuMicrosPerMessage };
}

import { type Latency, median } from "../measure/statistics.ts";
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
  const of = (pick: (measured: Measured) => number) => median(runs.map((run) => pick(run.measured)));
  const latencyOf = (pick: (measured: Measured) => Latency): Latency => ({
    meanMs: of((measured) => pick(measured).meanMs),
    p50Ms: of((measured) => pick(measured).p50Ms),
    p99Ms: of((measured) => pick(measured).p99Ms),
  });
  const cpu = runs.map((run) => run.cpuMicrosPerMessage).filter((micros) => micros !== null);
  return {
    messages: of((measured) => measured.messages),
    sentPerSecond: of((measured) => measured.sentPerSecond),
    handledPerSecond: of((measured) => measured.handledPerSecond),
    call: latencyOf((measured) => measured.call),
    endToEnd: latencyOf((measured) => measured.endToEnd),
    cpuMicrosPerMessage: cpu.length === 0 ? null : median(cpu),
  };
}

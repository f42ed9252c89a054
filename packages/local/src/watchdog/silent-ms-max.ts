import { type GeneratedWorker, generatedConfig } from "@sluice/project/generate/plan";

/**
 * How long workerd may be silent because a Worker computes without a pause, in ms, for Workers whose configuration sets
 * no `limits.cpu_ms`, the limit of production.
 */
const SILENT_MS_MAX_DEFAULT = 10_000;

/** Returns the greatest limit of the Workers, in ms: any of them may be computing. The default without Workers. */
export function silentMsMaxOf(workers: readonly Pick<GeneratedWorker, "files">[]): number {
  const limitsMs = workers.map((worker) => generatedConfig(worker).limits?.cpu_ms ?? SILENT_MS_MAX_DEFAULT);
  return limitsMs.length === 0 ? SILENT_MS_MAX_DEFAULT : Math.max(...limitsMs);
}

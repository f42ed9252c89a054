import { type GeneratedWorker, generatedConfig } from "@sluice/project/generate/plan";

/**
 * How long workerd may answer nothing because one of its Workers computes without a pause, in ms, unless one's
 * configuration allows it more or all allow less (`limits.cpu_ms`): by what ends it in production.
 */
const SILENT_MS_MAX_DEFAULT = 10_000;

/** The longest that one of them may compute: any of them may be the one that does. A broker may run alone. */
export function silentMsMaxOf(workers: readonly Pick<GeneratedWorker, "files">[]): number {
  const limitsMs = workers.map((worker) => generatedConfig(worker).limits?.cpu_ms ?? SILENT_MS_MAX_DEFAULT);
  return limitsMs.length === 0 ? SILENT_MS_MAX_DEFAULT : Math.max(...limitsMs);
}

import { type ConfigDiagnostic, ConfigError, errorAt, formatPlace } from "../file/diagnostics.ts";
import type { WorkerQueueConfig } from "../tables/worker-config.ts";

/** Names of a deployment's broker and project; `null` where no file gives one. */
export interface DeploymentNames {
  readonly broker: string | null;
  readonly project: string | null;
}

/**
 * Reads the names of the broker and the project out of all files.
 *
 * @throws ConfigError where two files name different ones, with both places.
 */
export function deploymentNames(workers: readonly WorkerQueueConfig[]): DeploymentNames {
  const diagnostics: ConfigDiagnostic[] = [];
  const names = {
    broker: agreedName(workers, "broker", diagnostics),
    project: agreedName(workers, "project", diagnostics),
  };
  if (diagnostics.length > 0) throw new ConfigError(diagnostics);
  return names;
}

function agreedName(
  workers: readonly WorkerQueueConfig[],
  key: keyof DeploymentNames,
  diagnostics: ConfigDiagnostic[],
): string | null {
  const [first, ...others] = workers.filter((worker) => worker[key] !== undefined);
  for (const other of others) {
    if (other[key] === first?.[key]) continue;
    const line = other.lines?.[key];
    const places = [first, other].map((one) => `"${one?.[key]}" (${placeOf(one, key)})`);
    diagnostics.push(
      errorAt(
        other.settingsFile ?? other.file,
        line,
        `"sluice.${key}" has two values: ${places.join(" and ")}`,
      ),
    );
  }
  return first?.[key] ?? null;
}

function placeOf(worker: WorkerQueueConfig | undefined, key: keyof DeploymentNames): string {
  return worker === undefined ? "" : formatPlace(worker.settingsFile ?? worker.file, worker.lines?.[key]);
}

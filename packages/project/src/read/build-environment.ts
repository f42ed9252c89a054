import { CliError } from "../errors.ts";
import type { BuiltConfig } from "./build-output.ts";
import type { WorkerSource } from "./read-worker.ts";
import type { UserWorker } from "./worker.ts";

/**
 * Returns the environment of a deployment: the chosen one, else the one for which its Workers were built, since a
 * Worker of staging must not use the broker of production.
 *
 * @param chosen environment of the command, "" for none.
 * @throws CliError for Workers that were built for different environments.
 */
export function environmentOfBuilds(sources: readonly WorkerSource[], chosen: string): string {
  const built = sources.filter((source) => source.kind === "built");
  const [first, another] = new Map(built.map((source) => [environmentOf(source), source.file]));
  if (chosen !== "" || first === undefined) return chosen;
  if (another === undefined) return first[0];
  const lines = [first, another].map(
    ([env, file]) => `  ${env === "" ? "the top level" : `"${env}"`}  ${file}`,
  );
  throw new CliError(
    `These were built for different environments, and a deployment has one. Build them for the same one:\n${lines.join("\n")}`,
  );
}

function environmentOf({ environment, isByDefault }: BuiltConfig): string {
  return isByDefault ? "" : (environment ?? "");
}

/**
 * Refuses to deploy a build for an environment where neither its configuration nor its Worker's name says that it was
 * built for that environment. It might take the Worker of another environment to this one's broker.
 *
 * @throws CliError that says how to build it.
 */
export function refuseUnknownEnvironment(
  source: WorkerSource,
  { name, file }: Pick<UserWorker, "name" | "file">,
  env: string,
): void {
  if (source.kind !== "built" || source.environment !== null || env === "" || name.endsWith(`-${env}`))
    return;
  throw new CliError(
    `${file}: the build does not say that it was made for the environment "${env}", and its Worker is called "${name}". ` +
      `Build it for that environment first, as by "CLOUDFLARE_ENV=${env} npx vite build", or deploy it without one.`,
  );
}

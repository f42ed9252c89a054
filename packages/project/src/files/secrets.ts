import { existsSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { envFileName } from "./env-files.ts";

/** Files of secrets beside a generated configuration, and the user's files that they stand for. */
export type SecretFiles = Readonly<Record<string, readonly string[]>>;

/**
 * Which of the user's files each file beside the generated configuration stands for. The generated configuration is one
 * environment's already, so Wrangler looks for the plain names only; the ones of the environment have to be there under
 * those. Of `.dev.vars` the environment's own replaces the plain one, of `.env` the later ones add to the earlier
 * (wrangler 4.164, `getVarsForDev`).
 *
 * @param env the environment, "" for the top level.
 * @param exists tells whether the user's folder has a file.
 */
export function secretFiles(env: string, exists: (name: string) => boolean): SecretFiles {
  if (env === "") return { ".dev.vars": [".dev.vars"], ".env": [".env"], ".env.local": [".env.local"] };
  const devVars = exists(`.dev.vars.${env}`) ? `.dev.vars.${env}` : ".dev.vars";
  const later = [`.env.${env}`, `.env.${env}.local`].filter(exists);
  return { ".dev.vars": [devVars], ".env": [".env"], ".env.local": [".env.local", ...later] };
}

/**
 * Puts the user's secrets beside a generated configuration, where Wrangler looks for them. A link follows what the user
 * changes, and one to a file that is not there counts as none; several files in one have to be copied.
 */
export function placeSecrets(userDirectory: string, generatedDirectory: string, env: string): void {
  const files = secretFiles(env, (name) => existsSync(join(userDirectory, name)));
  for (const [name, sources] of Object.entries(files)) {
    const target = join(generatedDirectory, name);
    const [only, ...others] = sources.map((source) => join(userDirectory, source));
    if (only !== undefined && others.length === 0) link(only, target);
    else copy([only ?? "", ...others], target);
  }
}

/**
 * Puts the files that `--env-file` names beside a generated configuration, under the names by which Wrangler is told of
 * them there. It reads these then, and no others.
 *
 * @param files seen from the user's folder.
 */
export function placeEnvFiles(
  userDirectory: string,
  generatedDirectory: string,
  files: readonly string[],
): void {
  for (const [index, file] of files.entries()) {
    link(resolve(userDirectory, file), join(generatedDirectory, envFileName(index)));
  }
}

function link(source: string, target: string): void {
  if (linkTarget(target) === source) return;
  rmSync(target, { force: true });
  try {
    symlinkSync(source, target, "file");
  } catch {
    // Windows lets only some users make links.
    copy([source], target);
  }
}

function copy(sources: readonly string[], target: string): void {
  const contents = sources
    .filter((source) => existsSync(source))
    .map((source) => readFileSync(source, "utf8"));
  rmSync(target, { force: true });
  if (contents.length > 0) writeFileSync(target, `${contents.join("\n")}\n`, { mode: 0o600 });
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

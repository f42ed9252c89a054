import { existsSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { envFileName } from "./env-files.ts";

/** Names of secret files beside a generated configuration, each with the user's files that it stands for. */
type SecretFiles = Readonly<Record<string, readonly string[]>>;

/**
 * Maps each secret file beside the generated configuration to the user's files. The generated configuration has only
 * one environment, so Wrangler looks for the plain names there. An environment's `.dev.vars` replaces the plain one.
 * Its `.env` files are added to the plain ones, and later files take precedence (wrangler 4.164, `getVarsForDev`).
 *
 * @param env environment, "" for the top level.
 * @param exists whether the user's folder has a file.
 */
export function secretFiles(env: string, exists: (name: string) => boolean): SecretFiles {
  if (env === "") return { ".dev.vars": [".dev.vars"], ".env": [".env"], ".env.local": [".env.local"] };
  const devVars = exists(`.dev.vars.${env}`) ? `.dev.vars.${env}` : ".dev.vars";
  const later = [`.env.${env}`, `.env.${env}.local`].filter(exists);
  return { ".dev.vars": [devVars], ".env": [".env"], ".env.local": [".env.local", ...later] };
}

/**
 * Puts the user's secrets beside a generated configuration, where Wrangler looks for them. They are links, which follow
 * the user's changes; Wrangler ignores a link to a missing file. Several files for one name are copied instead.
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
 * Links the files of `--env-file` beside a generated configuration, under the names in Wrangler's arguments. Wrangler
 * then reads only these.
 *
 * @param files paths relative to the user's folder.
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
  if (!tryLink(source, target)) copy([source], target);
}

/** Makes a link. Returns whether it works: Windows lets only some users make one, and some file systems have none. */
function tryLink(source: string, target: string): boolean {
  try {
    symlinkSync(source, target, "file");
    return existsSync(target) === existsSync(source);
  } catch {
    return false;
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

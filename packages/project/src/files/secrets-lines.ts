import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { secretFiles } from "./secrets.ts";

/** Folder of a generated configuration, in which `placeSecrets` has put files of secrets. */
export interface PlacedSecrets {
  /** Absolute paths of this folder and of the user's folder. */
  readonly directory: string;
  readonly userDirectory: string;
  /** The environment, "" for the top level. */
  readonly env: string;
}

/** Wrangler's line about a file of secrets. The second word depends on its version. */
const SECRETS = /^Using (?:secrets|vars) defined in (.+)$/;

/**
 * Returns the path that a line of Wrangler's names as a file of secrets; `null` for any other line.
 *
 * @param plain line without colours.
 */
export function secretsPath(plain: string): string | null {
  return SECRETS.exec(plain)?.[1] ?? null;
}

/**
 * Replaces the file in a line about a file of secrets by the user's own files. The result has a line for each of them.
 *
 * @param path path in the line.
 * @param workingDirectory absolute path of the folder that paths are relative to.
 */
export function ownSecretsLines(
  line: string,
  path: string,
  placed: readonly PlacedSecrets[],
  workingDirectory: string,
): readonly string[] {
  const file = resolve(workingDirectory, path);
  const its = placed.find(({ directory }) => directory === dirname(file));
  if (its === undefined) return [line];
  return userFiles(file, its).map((own) => line.replace(path, () => relative(workingDirectory, own)));
}

function userFiles(file: string, { userDirectory, env }: PlacedSecrets): string[] {
  const exists = (name: string) => existsSync(join(userDirectory, name));
  const { [basename(file)]: names } = secretFiles(env, exists);
  if (names !== undefined) return names.filter(exists).map((name) => join(userDirectory, name));
  // A file of `--env-file` has a name that `envFileName` makes, and is a link.
  return [realPath(file)];
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

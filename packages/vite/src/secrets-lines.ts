import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { showConsoleThrough } from "@sluice/local/dev/inside/console";
import { secretFiles } from "@sluice/project/files/secrets";

/** Folder of a generated configuration with files of secrets beside it. */
interface PlacedSecrets {
  /** Absolute paths of it and of the user's folder. */
  readonly directory: string;
  readonly userDirectory: string;
  /** The environment, "" for the top level. */
  readonly env: string;
}

/** Wrangler's line about such a file; the second word depends on its version. */
const SECRETS = /^Using (?:secrets|vars) defined in (.+)$/;

const placed = new Map<string, PlacedSecrets>();

/** Has Wrangler's lines about files of secrets, which Cloudflare's plugin prints, name the user's own files. */
export function nameSecrets(secrets: PlacedSecrets): void {
  if (placed.size === 0)
    showConsoleThrough(console, (message) => secretsLines(message, [...placed.values()]));
  placed.set(secrets.directory, secrets);
}

/** Replaces a line about a file beside a generated configuration: a line for each file that it stands for. */
export function secretsLines(message: string, all: readonly PlacedSecrets[]): readonly string[] {
  const path = SECRETS.exec(message)?.[1];
  if (path === undefined) return [message];
  const its = all.find(({ directory }) => directory === dirname(resolve(path)));
  if (its === undefined) return [message];
  const exists = (name: string) => existsSync(join(its.userDirectory, name));
  const { [basename(path)]: names = [] } = secretFiles(its.env, exists);
  return names
    .filter(exists)
    .map((name) => message.replace(path, () => relative(process.cwd(), join(its.userDirectory, name))));
}

import { closeSync, existsSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A file for `--secrets-file`. */
export interface SecretsFile {
  readonly path: string;
  remove(): void;
}

/**
 * Makes a file of secrets. Its name is removed before the secrets are written, so that nothing stays when this process
 * is killed. On a system that cannot open a file without a name, the file stays until `remove` is called.
 *
 * @param folder folder that only this user can read.
 */
export function secretsFile(folder: string, secrets: Readonly<Record<string, string>>): SecretsFile {
  const named = join(folder, "secrets.json");
  const fd = openSync(named, "w+", 0o600);
  const nameless = `/dev/fd/${fd}`;
  const isNameless = existsSync(nameless);
  if (isNameless) unlinkSync(named);
  // Written at position 0, which leaves the descriptor's position at the beginning: a reader may share that.
  writeSync(fd, JSON.stringify(secrets), 0);
  return {
    path: isNameless ? nameless : named,
    remove: () => {
      closeSync(fd);
      if (!isNameless) unlinkSync(named);
    },
  };
}

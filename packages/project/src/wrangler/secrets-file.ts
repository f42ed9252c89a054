import { closeSync, existsSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A file for `--secrets-file`. */
export interface SecretsFile {
  readonly path: string;
  remove(): void;
}

/**
 * Makes a file of secrets. Its name is gone before it holds any, so that nothing stays when this process is killed;
 * where a system cannot open a file without a name, it stays until it is removed.
 *
 * @param folder that only this user can look into.
 */
export function secretsFile(folder: string, secrets: Readonly<Record<string, string>>): SecretsFile {
  const named = join(folder, "secrets.json");
  const fd = openSync(named, "w+", 0o600);
  const nameless = `/dev/fd/${fd}`;
  const isNameless = existsSync(nameless);
  if (isNameless) unlinkSync(named);
  // At its beginning, whoever reads it may share its position.
  writeSync(fd, JSON.stringify(secrets), 0);
  return {
    path: isNameless ? nameless : named,
    remove: () => {
      closeSync(fd);
      if (!isNameless) unlinkSync(named);
    },
  };
}

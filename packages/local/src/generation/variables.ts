import { readFileSync, utimesSync } from "node:fs";
import { join, resolve } from "node:path";
import { envFileName } from "@sluice/project/files/env-files";
import { secretFiles } from "@sluice/project/files/secrets";
import type { GeneratedWorker } from "@sluice/project/generate/plan";

/**
 * Lists the files of variables that count for a Worker, whether they exist or not. Absolute paths.
 *
 * @param env environment, "" for the top level.
 * @param envFiles files of `--env-file`, which replace all others.
 */
export function variableFiles(userDirectory: string, env: string, envFiles: readonly string[]): string[] {
  const names = [true, false].flatMap((exists) => Object.values(secretFiles(env, () => exists)).flat());
  const files = envFiles.length > 0 ? envFiles : new Set(names);
  return [...files].map((file) => resolve(userDirectory, file));
}

type Generated = Pick<GeneratedWorker, "directory" | "configFile">;

/** Makes Wrangler take up changed variables. It watches a configuration, but not the files of variables beside it. */
export class VariablesWatch {
  readonly #names: readonly string[];
  /** Contents by folder. */
  readonly #read = new Map<string, string>();

  /** @param envFiles files of `--env-file`. */
  constructor(envFiles: readonly string[]) {
    this.#names = [...Object.keys(secretFiles("", () => true)), ...envFiles.map((_, i) => envFileName(i))];
  }

  /** Touches the configurations of Workers whose variables have changed since the last call. */
  renew(workers: readonly Generated[]): void {
    const now = new Date();
    for (const worker of workers) if (this.hasChanged(worker)) utimesSync(worker.configFile, now, now);
  }

  /** Reads the variables beside a generated configuration. Returns whether they differ from those of the last call. */
  hasChanged({ directory }: Pick<Generated, "directory">): boolean {
    const contents = JSON.stringify(this.#names.map((name) => contentsOf(join(directory, name))));
    const before = this.#read.get(directory);
    this.#read.set(directory, contents);
    return before !== undefined && before !== contents;
  }
}

function contentsOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

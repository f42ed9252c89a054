import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";

/** Mode of files with contents of queues: only their owner can read and write them, regardless of the umask. */
export const OWNERS_MODE = 0o600;

/**
 * Keeps the progress of an export or import in a file beside the exported or imported one. It is written after each
 * page or batch and removed at the end, so it exists after a run that was stopped. A contract: a later release may
 * continue the run.
 */
export class Checkpoint<T extends object> {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  get exists(): boolean {
    return existsSync(this.file);
  }

  /** Reads the progress. Throws a `CliError` for a file that cannot be read. */
  read(): T {
    try {
      return JSON.parse(readFileSync(this.file, "utf8")) as T;
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      throw new CliError(`${this.file} cannot be read: ${why}`, EXIT_FAILED);
    }
  }

  /** Replaces the file atomically: the process may end at any moment. */
  write(state: T): void {
    const next = `${this.file}.next`;
    writeFileSync(next, JSON.stringify(state), { mode: OWNERS_MODE, flush: true });
    renameSync(next, this.file);
  }

  remove(): void {
    rmSync(this.file, { force: true });
  }
}
